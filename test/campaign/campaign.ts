// The campaign command: runs one kind of campaign and prints its progress, figures and findings. Knows no campaign's insides.
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { errorText } from "../../src/base/errors.ts";
import type { CampaignOptions, CampaignReport } from "./frame/campaign.ts";
import type { FrontEnd, RunCampaign } from "./frame/front-end.ts";

interface CampaignKind {
	/** Rounds when none are asked for: about half a minute of work, or all there is. */
	readonly rounds: number;
	readonly load: () => Promise<RunCampaign>;
}

/** The campaigns of a front end, with their usual rounds. */
function kindsOf<Kind extends keyof FrontEnd>(
	rounds: Readonly<Record<Kind, number>>,
	load: () => Promise<{ readonly frontEnd: Pick<FrontEnd, Kind> }>,
): [string, CampaignKind][] {
	const kinds = (["fuzz", "liveness", "crash", "kill"] as const).filter((kind): kind is Kind => kind in rounds);
	return kinds.map((kind) => [kind, { rounds: rounds[kind], load: async () => (await load()).frontEnd[kind] }]);
}

/** By the dialect: Kimi Wire and legacy when none is named, with the campaigns that no dialect has to do with. */
const dialects: ReadonlyMap<string, ReadonlyMap<string, CampaignKind>> = new Map([
	[
		"",
		new Map([
			...kindsOf({ fuzz: 100_000, liveness: 2_000, crash: 100, kill: 100 }, () => import("./wire/front-end.ts")),
			["answers", { rounds: 5_000, load: async () => (await import("./answers/answers.ts")).runCampaign }],
			["clients", { rounds: 2_000, load: async () => (await import("./clients/clients.ts")).runCampaign }],
			["cluster", { rounds: 1, load: async () => (await import("./cluster/cluster.ts")).runCampaign }],
			["oracle", { rounds: 1_000, load: async () => (await import("./oracle/oracle.ts")).runCampaign }],
			["orphans", { rounds: 100, load: async () => (await import("./orphans/orphans.ts")).runCampaign }],
			["parsers", { rounds: 10_000, load: async () => (await import("./parsers/parsers.ts")).runCampaign }],
			["rewind", { rounds: 40, load: async () => (await import("./rewind/rewind.ts")).runCampaign }],
			["wedge", { rounds: 0, load: async () => (await import("./wedge/wedge.ts")).runCampaign }],
		]),
	],
	[
		"meerkat",
		new Map(kindsOf({ fuzz: 20_000, liveness: 1_000, crash: 100, kill: 20 }, () => import("./meerkat/front-end.ts"))),
	],
	[
		"acp",
		new Map(kindsOf({ fuzz: 20_000, liveness: 1_000, crash: 100, kill: 20 }, () => import("./acp/front-end.ts"))),
	],
	...(["claude", "codex"] as const).map((name): [string, ReadonlyMap<string, CampaignKind>] => {
		const load = async () => ({ frontEnd: (await import("./sdk/front-ends.ts"))[name] });
		return [name, new Map(kindsOf({ fuzz: 20_000, liveness: 1_000, crash: 100 }, load))];
	}),
	[
		"gateway",
		new Map([
			["fuzz", { rounds: 5_000, load: async () => (await import("./gateway/fuzz.ts")).runFuzz }],
			["liveness", { rounds: 200, load: async () => (await import("./gateway/liveness.ts")).runLiveness }],
			["crash", { rounds: 100, load: async () => (await import("./gateway/crash.ts")).runGatewayCrash }],
			["kill", { rounds: 20, load: async () => (await import("./gateway/kill.ts")).runKill }],
		]),
	],
]);

const more =
	"[--rounds N] [--process-rounds N] [--seed S] [--path P] [--points all|N] [--only TEXT] [--over socket] [--executable FILE]";
const usage = [...dialects]
	.map(([name, kinds]) => `${name === "" ? "" : `--dialect ${name} `}--kind ${[...kinds.keys()].join("|")} ${more}`)
	.map((words, index) => `${index === 0 ? "Usage:" : "      "} npm run campaign -- ${words}`)
	.join("\n");

function parseCount(name: string, text: string): number {
	const count = Number(text);
	if (!Number.isSafeInteger(count)) throw new Error(`--${name} needs a whole number, not ${text}.`);
	if (count < 0 && name !== "seed") throw new Error(`--${name} cannot be less than 0, as ${text} is.`);
	return count;
}

interface Choice {
	readonly kind: CampaignKind;
	readonly options: Omit<CampaignOptions, "log">;
}

function readChoice(): Choice {
	const { values } = parseArgs({
		options: {
			kind: { type: "string", default: "" },
			dialect: { type: "string", default: "" },
			rounds: { type: "string" },
			"process-rounds": { type: "string" },
			seed: { type: "string", default: "1" },
			points: { type: "string", default: "all" },
			only: { type: "string" },
			over: { type: "string" },
			path: { type: "string" },
			executable: { type: "string" },
		},
	});
	const offered = dialects.get(values.dialect);
	if (offered === undefined) throw new Error(`--dialect can be ${[...dialects.keys()].filter(Boolean).join(" or ")}.`);
	const kind = offered.get(values.kind);
	if (kind === undefined) throw new Error(`--kind needs one of ${[...offered.keys()].join(", ")}.`);
	const { points, seed, rounds, only, over, path } = values;
	if (over !== undefined && over !== "socket") throw new Error(`--over can be socket, not ${over}.`);
	// Campaigns ask for it when they are loaded, and so do their children.
	if (values.executable !== undefined) process.env["AGENTWIRE_EXECUTABLE"] = resolve(values.executable);
	const processRounds = values["process-rounds"];
	return {
		kind,
		options: {
			rounds: rounds === undefined ? kind.rounds : parseCount("rounds", rounds),
			seed: parseCount("seed", seed),
			points: points === "all" ? "all" : parseCount("points", points),
			...(only === undefined ? {} : { only }),
			...(over === undefined ? {} : { over }),
			...(path === undefined ? {} : { path }),
			...(processRounds === undefined ? {} : { processRounds: parseCount("process-rounds", processRounds) }),
		},
	};
}

async function main(): Promise<number> {
	let choice: Choice;
	try {
		choice = readChoice();
	} catch (thrown) {
		process.stderr.write(`${errorText(thrown)}\n${usage}\n`);
		return 2;
	}
	const log = (line: string): void => void process.stdout.write(`${line}\n`);
	const runCampaign = await choice.kind.load();
	const report = await runCampaign({ ...choice.options, log });
	print(report, log);
	return report.findings.length === 0 ? 0 : 1;
}

function print({ kind, rounds, seed, seconds, findings, figures }: CampaignReport, log: (line: string) => void): void {
	log(`${kind}: ${rounds} rounds, seed ${seed}, ${seconds.toFixed(1)} s`);
	for (const [name, value] of Object.entries(figures)) log(`  ${name}: ${value}`);
	for (const [index, finding] of findings.entries()) log(`finding ${index + 1}: ${finding}`);
	log(`campaign ${kind}: ${Math.max(0, rounds - findings.length)} passed, ${findings.length} failed`);
}

// Lives that were stopped may hang in what they awaited.
process.exit(await main());
