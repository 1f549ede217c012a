// Compares the lines of a program with those of a transcript: to the letter, or as messages that may differ where the dialect
// leaves it to the implementation.
import { isRecord } from "../../base/json.ts";
import type { Move } from "./format.ts";
import { type Freedom, memberAt } from "./freedom.ts";
import { type Bindings, hasPlaceholder } from "./placeholders.ts";

export interface Comparison {
	/** The lines to send, with the values of this run. */
	fill(text: string): string;
	/** Whether the line needs no counterpart. */
	isOptional(line: string): boolean;
	/** Null when they agree, `more` when the line has the beginning of a streamed text, else what differs. */
	differenceOf(text: string, line: string): string | null;
	/** The moves as they are compared. */
	prepare(moves: readonly Move[]): readonly Move[];
}

export const more = "more";

/** To the letter, but for placeholders. */
export function exactly(bindings: Bindings): Comparison {
	return {
		fill: bindings.fill,
		isOptional: () => false,
		differenceOf: (text, line) => (bindings.matches(text, line) ? null : "the lines differ"),
		prepare: (moves) => moves,
	};
}

/** Stands in front of a placeholder that is no text. */
const bare = "\0";

/** A line of a transcript as a value; undefined when it is not JSON. Placeholders outside of texts become texts. */
export function parseTemplate(text: string): unknown {
	const quoted = text.replace(/"(?:[^"\\]|\\.)*"|<[^<>]+>/g, (found) =>
		found.startsWith('"') ? found : JSON.stringify(bare + found),
	);
	return parse(quoted);
}

function parse(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

/** As messages: members may be added, and those without a value be absent. `bindings` should take any ids. */
export function freely(bindings: Bindings, freedom: Freedom): Comparison {
	/** Whole texts with placeholders that stand for something else, as JSON. */
	const wholes = new Map<string, string>();
	let streamed = "";

	const differenceOfText = (expected: string, actual: unknown, place: string): string | null => {
		if (expected.startsWith(bare))
			return fits(expected.slice(1), actual) ? null : differ(place, expected.slice(1), actual);
		if (!hasPlaceholder(expected)) return expected === actual ? null : differ(place, expected, actual);
		const known = wholes.get(expected);
		const text = JSON.stringify(actual);
		if (known !== undefined) return known === text ? null : differ(place, JSON.parse(known), actual);
		if (bindings.matches(JSON.stringify(expected), text)) return null;
		if (!/<(?:uuid|hex)/.test(expected) || (typeof actual !== "string" && typeof actual !== "number"))
			return differ(place, expected, actual);
		// Ids are of any form, also as numbers and where ours are made of several.
		wholes.set(expected, text);
		return null;
	};

	const differenceOfValues = (expected: unknown, actual: unknown, place: string): string | null => {
		if (typeof expected === "string") return differenceOfText(expected, actual, place);
		if (Array.isArray(expected)) {
			if (!Array.isArray(actual) || actual.length !== expected.length) return differ(place, expected, actual);
			return first(expected.keys(), (index) => differenceOfValues(expected[index], actual[index], `${place}/${index}`));
		}
		if (!isRecord(expected)) return expected === actual ? null : differ(place, expected, actual);
		if (!isRecord(actual)) return differ(place, expected, actual);
		return first(Object.keys(expected), (key) => {
			if (freedom.members.has(key)) return null;
			const isEmpty = expected[key] === null && (actual[key] ?? null) === null;
			return isEmpty ? null : differenceOfValues(expected[key], actual[key], `${place}/${key}`);
		});
	};

	const nameOf = (message: unknown): string => (isRecord(message) ? freedom.nameOf(message) : "");
	/** Name and text of a streamed piece; null for other messages. */
	const pieceOf = (message: unknown) => {
		const name = nameOf(message);
		const text = memberAt(message, freedom.pieces[name] ?? ["none"]);
		return typeof text === "string" ? { name, text } : null;
	};

	const fill = (value: unknown): unknown => {
		if (typeof value === "string") {
			const whole = wholes.get(value);
			return whole === undefined ? JSON.parse(bindings.fill(JSON.stringify(value))) : JSON.parse(whole);
		}
		if (Array.isArray(value)) return value.map(fill);
		return isRecord(value)
			? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, fill(inner)]))
			: value;
	};

	return {
		fill(text) {
			const message = hasPlaceholder(text) ? parseTemplate(text) : undefined;
			return message === undefined ? text : JSON.stringify(fill(message)) + (text.endsWith("\n") ? "\n" : "");
		},
		isOptional: (line) => freedom.isOptional(nameOf(parse(line))),
		differenceOf(text, line) {
			const [expected, actual] = [parseTemplate(text), parse(line)];
			const [wanted, got] = [pieceOf(expected), pieceOf(actual)];
			if (wanted === null || got === null || wanted.name !== got.name) {
				streamed = "";
				const names = [nameOf(expected), nameOf(actual)];
				return names[0] === names[1]
					? differenceOfValues(expected, actual, "")
					: `expected ${kindOf(expected, names[0])}, not ${kindOf(actual, names[1])}`;
			}
			streamed += got.text;
			const together = streamed;
			if (wanted.text !== together && wanted.text.startsWith(together)) return more;
			streamed = "";
			return differenceOfText(wanted.text, together, "/text");
		},
		prepare(moves) {
			const kept = moves.filter(
				(move) => move.kind !== "receive" || !freedom.isOptional(nameOf(parseTemplate(move.text))),
			);
			return kept.flatMap((move, index): Move[] => {
				if (move.kind === "unordered") {
					const chains = move.chains.map((chain) =>
						chain.filter((text) => !freedom.isOptional(nameOf(parseTemplate(text)))),
					);
					return [{ ...move, chains }];
				}
				const piece = move.kind === "receive" ? pieceOf(parseTemplate(move.text)) : null;
				if (move.kind !== "receive" || piece === null) return [move];
				const isSame = (other: Move | undefined) =>
					other?.kind === "receive" && pieceOf(parseTemplate(other.text))?.name === piece.name;
				if (isSame(kept[index - 1])) return [];
				let end = index;
				while (isSame(kept[end])) end += 1;
				const texts = kept
					.slice(index, end)
					.map((each) => (each.kind === "receive" ? pieceOf(parseTemplate(each.text)) : null));
				return [{ ...move, text: withPiece(move.text, piece.text, texts.map((each) => each?.text ?? "").join("")) }];
			});
		},
	};
}

function withPiece(line: string, text: string, whole: string): string {
	return line.replace(JSON.stringify(text), () => JSON.stringify(whole));
}

function first<T>(items: Iterable<T>, find: (item: T) => string | null): string | null {
	for (const item of items) {
		const found = find(item);
		if (found !== null) return found;
	}
	return null;
}

/** Whether the value may stand for a placeholder that is no text. */
function fits(name: string, value: unknown): boolean {
	if (value === undefined) return false;
	if (name.startsWith("<float")) return typeof value === "number";
	return name.startsWith("<list") ? Array.isArray(value) : true;
}

function kindOf(message: unknown, name: string | undefined): string {
	if (name !== undefined && name !== "") return name;
	if (!isRecord(message)) return "a line that is not JSON";
	return message["error"] === undefined ? "a result" : "an error";
}

function differ(place: string, expected: unknown, actual: unknown): string {
	const shown = (value: unknown) => (value === undefined ? "nothing" : JSON.stringify(value)?.slice(0, 200));
	return `${place === "" ? "the message" : place}: expected ${shown(expected)}, not ${shown(actual)}`;
}
