import { UsageError } from "../usage-error.ts";

/** Flags in `plain` take no value, those in `taken` require one. Null means help. Throws UsageError. */
export function readFlagValues(
	command: string,
	words: readonly string[],
	{ taken, plain }: { readonly taken: readonly string[]; readonly plain: readonly string[] },
): ReadonlyMap<string, string> | null {
	const given = new Map<string, string>();
	for (let index = 0; index < words.length; index += 1) {
		const [flag = "", inline] = (words[index] ?? "").split(/=(.*)/s);
		if (flag === "--help" || flag === "-h") return null;
		if (plain.includes(flag) && inline === undefined) given.set(flag, "");
		else if (taken.includes(flag)) {
			index += inline === undefined ? 1 : 0;
			const value = inline ?? words[index];
			if (value === undefined || value === "") throw new UsageError(`${flag} needs a value.`);
			given.set(flag, value);
		} else {
			const known = [...taken, ...plain].join(", ");
			throw new UsageError(`The command '${command}' does not know '${flag}'; it takes ${known}.`);
		}
	}
	return given;
}

export function toKnown<T extends string>(flag: string, spelled: string, known: readonly T[]): T {
	const found = known.find((each) => each === spelled);
	if (found === undefined) throw new UsageError(`${flag}: '${spelled}' is not one of ${known.join(", ")}.`);
	return found;
}
