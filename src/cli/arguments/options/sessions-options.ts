import { chooseAction } from "../chosen-action.ts";
import { splitOwnFlags } from "../own-flags.ts";
import { UsageError } from "../usage-error.ts";
import { type ExportOptions, toExportOptions } from "./export-options.ts";

export type SessionsAction =
	| { readonly name: "list"; readonly workDir: string | null; readonly json: boolean }
	| { readonly name: "show"; readonly id: string; readonly json: boolean }
	| { readonly name: "export"; readonly options: ExportOptions }
	| ForkAction
	| { readonly name: "delete"; readonly id: string; readonly yes: boolean; readonly json: boolean };

export interface ForkAction {
	readonly name: "fork";
	readonly id: string;
	/** A turn's number or id; null for the whole session. */
	readonly before: string | null;
	/** Null without files. `into` is a directory as typed; null for one next to the work directory. */
	readonly files: { readonly into: string | null; readonly worktree: boolean } | null;
	readonly json: boolean;
}

const actions = ["list", "show", "export", "fork", "delete"] as const;

export function toSessionsAction([typed, ...words]: readonly string[]): SessionsAction | null {
	if (typed === "--help" || typed === "-h") return null;
	const name = chooseAction("sessions", actions, typed);
	if (name === "export") {
		const options = toExportOptions(words);
		return options === null ? null : { name, options };
	}
	if (words.includes("--help") || words.includes("-h")) return null;
	const json = words.includes("--json");
	const rest = words.filter((word) => word !== "--json");
	switch (name) {
		case "list":
			return { name, workDir: toWorkDir(rest), json };
		case "show":
			return { name, id: onlyId(name, rest), json };
		case "fork":
			return toFork(rest, json);
		case "delete": {
			const yes = rest.some(isYes);
			const others = rest.filter((word) => !isYes(word));
			return { name, id: onlyId(name, others), yes, json };
		}
	}
}

const forkFlags = [
	{ names: ["--before"], value: "TURN" },
	{ names: ["--files"], value: null },
	{ names: ["--into"], value: "DIR" },
	{ names: ["--worktree"], value: null },
] as const;

function toFork(words: readonly string[], json: boolean): ForkAction {
	const given = splitOwnFlags(words, forkFlags);
	const [into, worktree] = [given.last("--into"), given.has("--worktree")];
	const hasFiles = given.has("--files") || into !== null || worktree;
	const files = hasFiles ? { into, worktree } : null;
	return { name: "fork", id: onlyId("fork", given.others), before: given.last("--before"), files, json };
}

const isYes = (word: string) => word === "--yes" || word === "-y";

function toWorkDir(words: readonly string[]): string | null {
	const [flag, value, other] = words.flatMap((word) =>
		word.startsWith("--work-dir=") ? ["--work-dir", word.slice("--work-dir=".length)] : [word],
	);
	if (flag === undefined) return null;
	if (flag !== "--work-dir" && flag !== "-w") {
		throw new UsageError(`The command 'sessions list' does not know '${flag}'; it takes --work-dir and --json.`);
	}
	if (value === undefined || value.trim() === "") throw new UsageError(`${flag} needs a value (DIR).`);
	if (other !== undefined) throw new UsageError(`The command 'sessions list' does not know '${other}'.`);
	return value;
}

function onlyId(name: string, words: readonly string[]): string {
	const flag = words.find((word) => word.startsWith("-"));
	if (flag !== undefined) throw new UsageError(`The command 'sessions ${name}' does not know '${flag}'.`);
	const [id, other] = words;
	if (id === undefined || id.trim() === "")
		throw new UsageError(`The command 'sessions ${name}' needs the id of a session.`);
	if (other !== undefined)
		throw new UsageError(`The command 'sessions ${name}' takes one session, found '${other}' too.`);
	return id;
}
