import { notForMany, printOnly } from "../arguments/command-line.ts";
import { type CommandFlag, type CommandName, commandNames, commands } from "../arguments/commands.ts";
import { type FlagKey, flags, type Offers } from "../arguments/flags.ts";

/** A place on the command line: after the program, a command, or a command's action. */
export interface CompletionLevel {
	readonly path: readonly string[];
	readonly words: readonly { readonly name: string; readonly about: string }[];
	readonly flags: readonly CommandFlag[];
	readonly offers: Offers | null;
}

const help: CommandFlag = { names: ["--help", "-h"], value: null, about: "Show this help and exit." };

export function completionLevels(): readonly CompletionLevel[] {
	const program: CompletionLevel = {
		path: [],
		words: commandNames.map((name) => ({ name, about: commands[name].about })),
		flags,
		offers: null,
	};
	return [program, ...commandNames.flatMap(toLevels)];
}

function toLevels(name: CommandName): CompletionLevel[] {
	const { forms, flags: ownFlags } = commands[name];
	const named = forms.map((form) => ({ ...form, action: /^[a-z][a-z-]*/.exec(form.words)?.[0] ?? null }));
	const actions = [...new Set(named.flatMap(({ action }) => action ?? []))];
	const toLevel = (action: string | null): CompletionLevel => {
		const own = named.filter((form) => form.action === action);
		return {
			path: action === null ? [name] : [name, action],
			words:
				action === null
					? actions.map((each) => ({
							name: each,
							about: named.find((form) => form.action === each)?.about ?? "",
						}))
					: [],
			flags: [...ownFlags.filter((flag) => own.some(({ words }) => isNamed(flag, words))), ...shared(name), help],
			offers: own.find(({ offers }) => offers !== undefined)?.offers ?? null,
		};
	};
	return [null, ...actions].map(toLevel);
}

function isNamed({ names }: CommandFlag, words: string): boolean {
	const found: readonly string[] = words.match(/--[a-z-]+/g) ?? [];
	return names.some((name) => found.includes(name));
}

function shared(name: CommandName): readonly CommandFlag[] {
	if (name !== "rpc" && name !== "acp" && name !== "serve") return [];
	const others: readonly FlagKey[] = [...notForMany[name], "acp", ...printOnly, "help", "version"];
	return flags.filter(({ key }) => !others.includes(key));
}
