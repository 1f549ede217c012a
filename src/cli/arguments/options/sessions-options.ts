// Parses the arguments of `sessions`. sessions.ts runs them.

import { chooseAction } from "../chosen-action.ts";
import { UsageError } from "../usage-error.ts";
import { type ExportOptions, toExportOptions } from "./export-options.ts";

export type SessionsAction =
	/** A directory as typed; null lists all sessions. */
	| { readonly name: "list"; readonly workDir: string | null; readonly json: boolean }
	| { readonly name: "show"; readonly id: string; readonly json: boolean }
	| { readonly name: "export"; readonly options: ExportOptions }
	| { readonly name: "delete"; readonly id: string; readonly yes: boolean; readonly json: boolean };

const actions = ["list", "show", "export", "delete"] as const;

/** Null means help. Throws UsageError. */
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
		case "delete": {
			const yes = rest.some(isYes);
			const others = rest.filter((word) => !isYes(word));
			return { name, id: onlyId(name, others), yes, json };
		}
	}
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
	const [id, other] = words;
	if (id === undefined || id.trim() === "")
		throw new UsageError(`The command 'sessions ${name}' needs the id of a session.`);
	if (id.startsWith("-")) throw new UsageError(`The command 'sessions ${name}' does not know '${id}'.`);
	if (other !== undefined)
		throw new UsageError(`The command 'sessions ${name}' takes one session, found '${other}' too.`);
	return id;
}
