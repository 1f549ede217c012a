// What a command line of the benchmarks asks for.
import { parseArgs } from "node:util";
import { type GatewayLoad, loadForm, readLoads } from "./gateway/loads.ts";

/** The kinds of run that measure one thing alone; of several that are asked for, the first counts. */
const kinds = [
	"providers",
	"sessions",
	"permissions",
	"rewind",
	"acp",
	"gateway",
	"streaming",
	"store",
	"start",
	"clients",
] as const;
export type RunKind = (typeof kinds)[number];

export interface Choice {
	readonly runs: number;
	readonly json: boolean;
	/** What to measure alone; null for what is measured when nothing is asked for. */
	readonly kind: RunKind | null;
	/** Fails when a ratio of the start is over the committed one. */
	readonly check: boolean;
	/** Writes the ratios of the start as those to compare with. */
	readonly commit: boolean;
	/** What the gateway, or one process of many sessions, is measured under. */
	readonly loads: readonly GatewayLoad[];
	readonly peers: readonly string[];
	/** A directory in which client libraries of others are installed, for `--clients`. */
	readonly sdks: string | null;
	readonly executable: string;
}

export const usage = `Usage: npm run bench [-- --peer "NAME=<command>" …] [--runs N] [--json] [${kinds.map((kind) => `--${kind}`).join(" | ")} | --check | --commit] [--load ${loadForm} …] [--sdks DIR] [--executable FILE]`;

/** Reads the words of a command line. Throws for those that it does not know. */
export function readChoice(words: readonly string[], executable: string): Choice {
	const { values } = parseArgs({
		args: [...words],
		options: {
			peer: { type: "string", multiple: true, default: [] },
			start: { type: "boolean", default: false },
			check: { type: "boolean", default: false },
			commit: { type: "boolean", default: false },
			runs: { type: "string", default: "11" },
			json: { type: "boolean", default: false },
			providers: { type: "boolean", default: false },
			sessions: { type: "boolean", default: false },
			permissions: { type: "boolean", default: false },
			rewind: { type: "boolean", default: false },
			acp: { type: "boolean", default: false },
			gateway: { type: "boolean", default: false },
			streaming: { type: "boolean", default: false },
			load: { type: "string", multiple: true, default: [] },
			store: { type: "boolean", default: false },
			clients: { type: "boolean", default: false },
			sdks: { type: "string" },
			executable: { type: "string", default: executable },
		},
	});
	const runs = Number(values.runs);
	if (!Number.isInteger(runs) || runs < 1) throw new Error("--runs needs a whole number of at least 1.");
	const asked = { ...values, start: values.start || values.check || values.commit };
	const kind = kinds.find((each) => asked[each]) ?? null;
	const takesLoads = kind === "gateway" || kind === "streaming";
	if (values.load.length > 0 && !takesLoads) throw new Error("--load needs --gateway or --streaming.");
	const loads = readLoads(values.load);
	const ofSeveral = loads.filter(({ isShared }) => isShared);
	if (kind === "streaming" && values.load.length > 0 && ofSeveral.length > 0) {
		throw new Error(`--streaming has one client: leave the third number of ${ofSeveral[0]?.name} out.`);
	}
	return {
		runs,
		json: values.json,
		kind,
		check: values.check,
		commit: values.commit,
		loads: kind === "streaming" ? loads.filter(({ isShared }) => !isShared) : loads,
		peers: values.peer,
		sdks: values.sdks ?? null,
		executable: values.executable,
	};
}
