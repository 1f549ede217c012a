import { chooseAction } from "../chosen-action.ts";
import { UsageError } from "../usage-error.ts";

export type PermissionsAction =
	| { readonly name: "check" | "explain"; readonly command: string }
	| { readonly name: "list" | "trust" }
	| { readonly name: "import"; readonly file: string };

const actions = ["check", "explain", "list", "trust", "import"] as const;

export function toPermissionsAction([typed, ...words]: readonly string[]): PermissionsAction | null {
	if (typed === "--help" || typed === "-h") return null;
	const name = chooseAction("permissions", actions, typed);
	const takesCommand = name === "check" || name === "explain";
	// The command may be named --help, and exit code 0 would mean it is allowed.
	if (!takesCommand && (words.includes("--help") || words.includes("-h"))) return null;
	switch (name) {
		case "check":
		case "explain":
			return { name, command: only(name, "COMMAND", words) };
		case "import":
			return { name, file: only(name, "FILE", words) };
		case "list":
		case "trust": {
			const [other] = words;
			if (other !== undefined) throw new UsageError(`The command 'permissions ${name}' does not know '${other}'.`);
			return { name };
		}
	}
}

function only(action: string, wanted: string, words: readonly string[]): string {
	const [word, other] = words[0] === "--" ? words.slice(1) : words;
	if (word === undefined) throw new UsageError(`The command 'permissions ${action}' needs ${wanted}.`);
	if (other !== undefined) {
		throw new UsageError(`The command 'permissions ${action}' takes one ${wanted}, in quotes; found '${other}' too.`);
	}
	return word;
}
