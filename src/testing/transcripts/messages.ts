import { isRecord } from "../../base/json.ts";
import { type Bindings, hasPlaceholder } from "./placeholders.ts";

/** Marks a placeholder that is not a string. */
const bare = "\0";

/** Undefined when it is not JSON. Bare placeholders become strings. */
export function parseTemplate(text: string): unknown {
	const quoted = text.replace(/"(?:[^"\\]|\\.)*"|<[^<>]+>/g, (found) =>
		found.startsWith('"') ? found : JSON.stringify(bare + found),
	);
	return parseJson(quoted);
}

export function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

export interface MessageRules {
	readonly freeMembers: ReadonlySet<string>;
	/** Whether additional members are a difference. */
	readonly isComplete: boolean;
}

export class MessageMatcher {
	readonly #bindings: Bindings;
	readonly #rules: MessageRules;
	readonly #wholes = new Map<string, string>();

	constructor(bindings: Bindings, rules: MessageRules) {
		this.#bindings = bindings;
		this.#rules = rules;
	}

	/** Null if the message matches; valueless members may be absent. Binds placeholders. */
	differenceOf(expected: unknown, actual: unknown, place = ""): string | null {
		if (typeof expected === "string") return this.#differenceOfText(expected, actual, place);
		if (Array.isArray(expected)) {
			if (!Array.isArray(actual) || actual.length !== expected.length) return differ(place, expected, actual);
			return first(expected.keys(), (index) => this.differenceOf(expected[index], actual[index], `${place}/${index}`));
		}
		if (!isRecord(expected)) return expected === actual ? null : differ(place, expected, actual);
		if (!isRecord(actual)) return differ(place, expected, actual);
		const { freeMembers, isComplete } = this.#rules;
		const added = Object.keys(actual).filter((key) => isComplete && !Object.hasOwn(expected, key));
		return first([...Object.keys(expected), ...added], (key) => {
			if (freeMembers.has(key)) {
				// The client may name it later.
				if (typeof expected[key] === "string") this.#differenceOfText(expected[key], actual[key], "");
				return null;
			}
			if ((expected[key] ?? null) === null && (actual[key] ?? null) === null) return null;
			const at = `${place}/${key}`;
			return Object.hasOwn(expected, key)
				? this.differenceOf(expected[key], actual[key], at)
				: differ(at, undefined, actual[key]);
		});
	}

	#differenceOfText(expected: string, actual: unknown, place: string): string | null {
		if (expected.startsWith(bare))
			return fits(expected.slice(1), actual) ? null : differ(place, expected.slice(1), actual);
		if (!hasPlaceholder(expected)) return expected === actual ? null : differ(place, expected, actual);
		const known = this.#wholes.get(expected);
		const text = JSON.stringify(actual) ?? "";
		if (known !== undefined) return known === text ? null : differ(place, JSON.parse(known), actual);
		if (this.#bindings.matches(JSON.stringify(expected), text)) return null;
		const isId = /<(?:uuid|hex)/.test(expected) && (typeof actual === "string" || typeof actual === "number");
		if (!isId) return differ(place, expected, actual);
		// Ids may have any form, where ours are composed texts.
		this.#wholes.set(expected, text);
		return null;
	}

	/** The template with the values of this run. */
	fill(value: unknown): unknown {
		if (typeof value === "string") {
			if (value.startsWith(bare)) return standIn(value.slice(1));
			return JSON.parse(this.#wholes.get(value) ?? this.#bindings.fill(JSON.stringify(value)));
		}
		if (Array.isArray(value)) return value.map((each) => this.fill(each));
		if (!isRecord(value)) return value;
		return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, this.fill(inner)]));
	}
}

function first<T>(items: Iterable<T>, find: (item: T) => string | null): string | null {
	for (const item of items) {
		const found = find(item);
		if (found !== null) return found;
	}
	return null;
}

function fits(name: string, value: unknown): boolean {
	if (value === undefined) return false;
	if (name.startsWith("<float")) return typeof value === "number";
	return name.startsWith("<list") ? Array.isArray(value) : true;
}

function standIn(name: string): unknown {
	if (name.startsWith("<float")) return Number(/^<float:(.+)\.\./.exec(name)?.[1] ?? 0);
	return name.startsWith("<list") ? [] : null;
}

function differ(place: string, expected: unknown, actual: unknown): string {
	const shown = (value: unknown) =>
		value === undefined ? "nothing" : JSON.stringify(value)?.replaceAll("\\u0000", "").slice(0, 200);
	return `${place === "" ? "the message" : place}: expected ${shown(expected)}, not ${shown(actual)}`;
}
