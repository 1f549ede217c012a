import type { Pattern } from "./pattern.ts";
import type { Check } from "./schema-node.ts";
import { type Run, shorten } from "./schema-run.ts";

export const jsonTypes = ["string", "number", "integer", "boolean", "array", "object", "null"] as const;
export type JsonType = (typeof jsonTypes)[number];

export interface PatternSlot {
	readonly source: string;
	pattern: Pattern | null;
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
	typeof value === "object" && value !== null && !Array.isArray(value);

function hasType(value: unknown, type: JsonType): boolean {
	switch (type) {
		case "null":
			return value === null;
		case "array":
			return Array.isArray(value);
		case "object":
			return isObject(value);
		case "integer":
			return Number.isInteger(value);
		case "number":
			return typeof value === "number" && Number.isFinite(value);
		case "string":
		case "boolean":
			return typeof value === type;
	}
}

export function checkType(types: readonly JsonType[]): Check {
	const fault = `must be ${types.join(",")}`;
	return (value, place, run) => types.some((type) => hasType(value, type)) || run.fail(place, fault);
}

/** `limit` describes the expected value; only numbers are checked. */
export function checkNumber(accepts: (value: number) => boolean, fault: string): Check {
	return (value, place, run) => typeof value !== "number" || accepts(value) || run.fail(place, fault);
}

/** Whether `value` is a multiple of `factor` in decimal: 0.3 is a multiple of 0.1. */
export function isMultiple(value: number, factor: number): boolean {
	const quotient = value / factor;
	return (
		Number.isInteger(quotient) || Math.abs(quotient - Math.round(quotient)) < 1e-9 * Math.min(1, Math.abs(quotient))
	);
}

/** Counts a surrogate pair as one character. */
function countCharacters(text: string, run: Run): number {
	run.spend(text.length / 16);
	let count = text.length;
	for (let index = 1; index < text.length; index += 1) {
		if (isHalf(text.charCodeAt(index), 0xdc00) && isHalf(text.charCodeAt(index - 1), 0xd800)) count -= 1;
	}
	return count;
}

const isHalf = (unit: number, first: number): boolean => unit >= first && unit < first + 0x400;

export function checkShortest(least: number): Check {
	const fault = `must NOT have fewer than ${least} characters`;
	return (value, place, run) => {
		if (typeof value !== "string" || value.length >= least * 2) return true;
		return (value.length >= least && countCharacters(value, run) >= least) || run.fail(place, fault);
	};
}

export function checkLongest(most: number): Check {
	const fault = `must NOT have more than ${most} characters`;
	return (value, place, run) => {
		if (typeof value !== "string" || value.length <= most) return true;
		return (value.length <= most * 2 && countCharacters(value, run) <= most) || run.fail(place, fault);
	};
}

/** Whether the pattern matches. The slot must be filled. */
export function findPattern({ pattern }: PatternSlot, text: string, run: Run): boolean {
	if (pattern === null) throw new Error("The pattern was not compiled.");
	run.spendTime(pattern.costIn(text.length));
	return pattern.test(text);
}

export function checkPattern(slot: PatternSlot): Check {
	const fault = `must match pattern "${shorten(slot.source)}"`;
	return (value, place, run) => typeof value !== "string" || findPattern(slot, value, run) || run.fail(place, fault);
}

export function checkItemCount(accepts: (count: number) => boolean, fault: string): Check {
	return (value, place, run) => !Array.isArray(value) || accepts(value.length) || run.fail(place, fault);
}

export function checkNameCount(accepts: (count: number) => boolean, fault: string): Check {
	return (value, place, run) => {
		if (!isObject(value)) return true;
		return accepts(run.namesOf(value).length) || run.fail(place, fault);
	};
}

export function checkRequired(names: readonly string[]): Check {
	return (value, place, run) => {
		if (!isObject(value)) return true;
		run.spend(names.length);
		const missing = names.find((name) => !Object.hasOwn(value, name));
		return missing === undefined || run.fail(place, `must have required property '${shorten(missing)}'`);
	};
}

export function checkDependentRequired(required: ReadonlyMap<string, readonly string[]>): Check {
	return (value, place, run) => {
		if (!isObject(value)) return true;
		for (const [name, names] of required) {
			run.spend(1 + names.length);
			const missing = Object.hasOwn(value, name) ? names.find((other) => !Object.hasOwn(value, other)) : undefined;
			if (missing === undefined) continue;
			return run.fail(place, `must have property ${shorten(missing)} when property ${shorten(name)} is present`);
		}
		return true;
	};
}

/** Equal values have equal keys. */
function toKey(value: unknown, run: Run): string {
	if (typeof value === "string") {
		run.spend(2 + value.length / 8);
		return JSON.stringify(value);
	}
	if (typeof value !== "object" || value === null) {
		run.spend(2);
		// Minus zero is zero.
		return value === 0 ? "0" : String(value);
	}
	run.enter();
	const parts = Array.isArray(value)
		? value.map((item) => toKey(item, run))
		: Object.entries(value)
				.sort(([one], [other]) => (one < other ? -1 : 1))
				.map(([name, item]) => `${toKey(name, run)}:${toKey(item, run)}`);
	run.leave();
	const joined = parts.join(",");
	// Nested values are copied again at every level.
	run.spend(joined.length / 256);
	return Array.isArray(value) ? `[${joined}]` : `{${joined}}`;
}

export function checkOneOfValues(values: readonly unknown[], fault: string): Check {
	const hasObjects = values.some((value) => typeof value === "object" && value !== null);
	let keys: ReadonlySet<string> | null = null;
	return (value, place, run) => {
		keys ??= new Set(values.map((known) => toKey(known, run)));
		const isPossible = hasObjects || typeof value !== "object" || value === null;
		return (isPossible && keys.has(toKey(value, run))) || run.fail(place, fault);
	};
}

export const checkUnique: Check = (value, place, run) => {
	if (!Array.isArray(value)) return true;
	const known = new Map<string, number>();
	for (const [index, item] of value.entries()) {
		const key = toKey(item, run);
		const first = known.get(key);
		if (first !== undefined) {
			return run.fail(place, `must NOT have duplicate items (items ## ${first} and ${index} are identical)`);
		}
		known.set(key, index);
	}
	return true;
};
