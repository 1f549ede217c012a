import { findFlag } from "./flags.ts";
import { UsageError } from "./usage-error.ts";

export interface OwnFlag {
	readonly names: readonly [string, ...string[]];
	readonly value: string | null;
}

export interface OwnFlags<Name extends string> {
	has(name: Name): boolean;
	/** The last value given: empty for a flag without a value, null if the flag was not given. */
	last(name: Name): string | null;
	all(name: Name): readonly string[];
	readonly others: readonly string[];
}

export function splitOwnFlags<Name extends string>(
	words: readonly string[],
	flags: readonly (OwnFlag & { readonly names: readonly [Name, ...string[]] })[],
): OwnFlags<Name> {
	const findOwn = (name: string) => flags.find(({ names }) => names.some((own) => own === name)) ?? null;
	const others: string[] = [];
	const given: { readonly name: Name; readonly value: string }[] = [];
	for (let position = 0; position < words.length; position += 1) {
		const word = words[position] ?? "";
		const [name = "", ...attached] = word.split("=");
		const own = findOwn(name);
		const next = words[position + 1];
		if (own === null) {
			others.push(word);
			// The next word is the value of another flag, even if it looks like a flag.
			const takesNext = attached.length === 0 && (findFlag(name)?.value ?? null) !== null;
			if (takesNext && next !== undefined && findOwn(next) === null) {
				others.push(next);
				position += 1;
			}
			continue;
		}
		if (own.value === null) {
			if (attached.length > 0) throw new UsageError(`${name} takes no value.`);
			given.push({ name: own.names[0], value: "" });
			continue;
		}
		const value = attached.length > 0 ? attached.join("=") : next;
		if (value === undefined || value.trim() === "" || (attached.length === 0 && value.startsWith("--"))) {
			throw new UsageError(`${name} needs a value (${own.value}).`);
		}
		if (attached.length === 0) position += 1;
		given.push({ name: own.names[0], value });
	}
	const all = (name: Name) => given.filter((each) => each.name === name).map(({ value }) => value);
	const last = (name: Name) => all(name).at(-1) ?? null;
	return { has: (name) => last(name) !== null, last, all, others };
}
