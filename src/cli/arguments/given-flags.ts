import type { Family } from "./conventions.ts";
import { type Flag, type FlagKey, findFlag, nearestFlagName } from "./flags.ts";
import { UsageError } from "./usage-error.ts";

export interface GivenFlag {
	readonly flag: Flag;
	readonly name: string;
	readonly value: string | null;
}

export interface GivenFlags {
	readonly all: readonly GivenFlag[];
	/** The words from the first non-flag on. */
	readonly rest: readonly string[];
	/** Whether the rest follows `--`. */
	readonly isRestMarked: boolean;
	last(...keys: FlagKey[]): GivenFlag | null;
	has(key: FlagKey): boolean;
}

/** Understands `--flag value`, `--flag=value`, `-f value`, `-fvalue`, `-f=value`, `-ab` and `--`. Throws UsageError. */
export function splitFlags(argv: readonly string[], family: Family | null = null): GivenFlags {
	const all: GivenFlag[] = [];
	let position = 0;
	let isRestMarked = false;
	// The only flag with different meanings in kimi-cli and kimi-code.
	const find = (name: string) => findFlag(name === "-c" && family === "kimi-code" ? "--continue" : name);

	const takeNext = (flag: Flag, name: string): string | null => {
		const next = argv[position];
		const isMissing = next === undefined || (flag.valueIsOptional ? next.startsWith("-") : find(next) !== null);
		if (!isMissing) {
			position += 1;
			return next;
		}
		if (flag.valueIsOptional) return null;
		throw new UsageError(`${name} needs a value (${flag.value}).`);
	};

	const takeLong = (word: string): void => {
		const equals = word.indexOf("=");
		const name = equals === -1 ? word : word.slice(0, equals);
		const flag = find(name) ?? refuse(name);
		const attached = equals === -1 ? null : word.slice(equals + 1);
		if (flag.value === null && attached !== null) throw new UsageError(`${name} takes no value.`);
		all.push({ flag, name, value: attached ?? (flag.value === null ? null : takeNext(flag, name)) });
	};

	const takeShort = (word: string): void => {
		for (let index = 1; index < word.length; index += 1) {
			const name = `-${word[index]}`;
			const flag = find(name) ?? refuse(name);
			if (flag.value === null) {
				if (word[index + 1] === "=") throw new UsageError(`${name} takes no value.`);
				all.push({ flag, name, value: null });
				continue;
			}
			const attached = word.slice(index + 1).replace(/^=/, "");
			all.push({ flag, name, value: index + 1 < word.length ? attached : takeNext(flag, name) });
			return;
		}
	};

	for (let word = argv[position]; word !== undefined; word = argv[position]) {
		if (!word.startsWith("-") || word === "-") break;
		position += 1;
		if (word === "--") {
			isRestMarked = true;
			break;
		}
		if (word.startsWith("--")) takeLong(word);
		else takeShort(word);
	}
	return {
		all,
		rest: argv.slice(position),
		isRestMarked,
		last: (...keys) => all.findLast(({ flag }) => keys.includes(flag.key)) ?? null,
		has: (key) => all.some(({ flag }) => flag.key === key),
	};
}

/** Returns the index of the first word that is not a flag or a flag value. Accepts unknown and incomplete flags. */
export function findFirstWord(argv: readonly string[]): number {
	for (let position = 0; position < argv.length; position += 1) {
		const word = argv[position] ?? "";
		if (!word.startsWith("-") || word === "-") return position;
		if (word === "--") return position + 1;
		const flag = findFlag(word);
		const next = argv[position + 1];
		const takesNext = flag !== null && flag.value !== null && next !== undefined && findFlag(next) === null;
		if (takesNext && !(flag.valueIsOptional && next.startsWith("-"))) position += 1;
	}
	return argv.length;
}

function refuse(name: string): never {
	if (name.startsWith("--live-"))
		throw new UsageError(`${name}: live audio and video sessions are not supported; leave the flag out.`);
	const nearest = name.startsWith("--") ? nearestFlagName(name) : null;
	throw new UsageError(`Unknown flag ${name}.${nearest === null ? "" : ` Did you mean ${nearest}?`}`);
}
