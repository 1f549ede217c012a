import { chooseAction } from "../chosen-action.ts";
import { UsageError } from "../usage-error.ts";

export type PluginAction =
	| { readonly name: "install"; readonly source: string }
	| { readonly name: "list" }
	| { readonly name: "remove"; readonly plugin: string }
	| { readonly name: "info"; readonly plugin: string };

const actions = ["install", "list", "remove", "info"] as const;

export function toPluginAction(typed: readonly string[]): PluginAction | null {
	if (typed.includes("--help") || typed.includes("-h")) return null;
	const [first, ...words] = typed;
	const name = chooseAction("plugin", actions, first);
	switch (name) {
		case "install":
			return { name, source: oneWord("plugin install", "SOURCE", words) };
		case "remove":
		case "info":
			return { name, plugin: oneWord(`plugin ${name}`, "NAME", words) };
		case "list": {
			const [other] = words;
			if (other !== undefined) throw new UsageError(`The command 'plugin list' does not know '${other}'.`);
			return { name };
		}
	}
}

function oneWord(command: string, wanted: string, words: readonly string[]): string {
	const flag = words.find((word) => word.startsWith("-"));
	if (flag !== undefined) throw new UsageError(`The command '${command}' does not know '${flag}'.`);
	const [word, other] = words;
	if (word === undefined || word.trim() === "") throw new UsageError(`The command '${command}' needs ${wanted}.`);
	if (other !== undefined) throw new UsageError(`The command '${command}' takes one ${wanted}, found '${other}' too.`);
	return word;
}
