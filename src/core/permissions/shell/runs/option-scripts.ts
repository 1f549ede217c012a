import { spreadOlderOptions } from "../programs/tar-options.ts";
import type { Word } from "../script.ts";
import { nothing, type Run, scriptOf, type Unwrapped } from "./run.ts";

export interface OptionNames {
	/** Letters of short options with a value. */
	readonly short: string;
	readonly long: string;
}

export function valuesOf(words: readonly Word[], { short, long }: OptionNames): readonly Word[] {
	const names = long.split(" ");
	return words.flatMap((word, index) => {
		const { text } = word;
		const name = /^--([a-z-]{2,})(?:=|$)/.exec(text)?.[1];
		const bundle = /^-([A-Za-z0-9]+)/.exec(text)?.[1] ?? "";
		const at = [...bundle].findIndex((letter) => short.includes(letter));
		const isLong = names.some((each) => (name === undefined ? `-${each}` === text : each.startsWith(name)));
		if (!isLong && at < 0) return [];
		const attached = isLong ? text.slice(`${text}=`.indexOf("=") + 1) : text.slice(at + 2);
		if (attached === "") return words.slice(index + 1, index + 2);
		return [word.kind === "literal" ? { kind: "literal", text: attached } : word];
	});
}

interface ScriptOption extends OptionNames {
	toScript(value: string): string | null;
}

const asItIs = (value: string) => value;
const tar: readonly ScriptOption[] = [
	{
		short: "IF",
		long: "to-command use-compress-program info-script new-volume-script rsh-command rmt-command",
		toScript: asItIs,
	},
	{ short: "", long: "checkpoint-action", toScript: (value) => /^exec=(.*)$/s.exec(value)?.[1] ?? null },
];

const tables: ReadonlyMap<string, readonly ScriptOption[]> = new Map(
	Object.entries({
		tar,
		gtar: tar,
		bsdtar: tar,
		// The script receives a host and the remote command.
		rsync: [
			{ short: "e", long: "rsh", toScript: (value: string) => `${value} host true` },
			{ short: "", long: "rsync-path", toScript: asItIs },
		],
		nodemon: [{ short: "x", long: "exec", toScript: asItIs }],
	}),
);

export function unwrapOptionScripts(given: readonly Word[], name: string): Unwrapped {
	const own = tables.get(name);
	if (own === undefined) return nothing;
	const words = own === tar ? spreadOlderOptions(given) : given;
	const runs: Run[] = [];
	const doubts: string[] = [];
	for (const option of own) {
		for (const value of valuesOf(words, option)) {
			if (value.kind === "dynamic") doubts.push(`the program that ${name} runs is ${value.why}`);
			const script = value.kind === "literal" ? option.toScript(value.text) : null;
			if (script !== null) runs.push(scriptOf(script));
		}
	}
	return { runs, doubts, isTransparent: false };
}
