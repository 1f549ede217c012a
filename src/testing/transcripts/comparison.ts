// To the letter, or as messages with the freedoms of the dialect.
import { isRecord } from "../../base/json.ts";
import type { Move } from "./format.ts";
import { type Freedom, memberAt } from "./freedom.ts";
import { MessageMatcher, parseJson, parseTemplate } from "./messages.ts";
import { type Bindings, hasPlaceholder } from "./placeholders.ts";

export interface Comparison {
	fill(text: string): string;
	isOptional(line: string): boolean;
	/** Null if equal, `more` for the beginning of a streamed text, else the difference. */
	differenceOf(text: string, line: string): string | null;
	/** Prepares moves for comparison. */
	prepare(moves: readonly Move[]): readonly Move[];
}

/** Fills a word of a command line. */
export function fillWord(comparison: Pick<Comparison, "fill">, word: string): string {
	return JSON.parse(comparison.fill(JSON.stringify(word)));
}

export const more = "more";

export function exactly(bindings: Bindings): Comparison {
	return {
		fill: bindings.fill,
		isOptional: () => false,
		differenceOf: (text, line) => (bindings.matches(text, line) ? null : "the lines differ"),
		prepare: (moves) => moves,
	};
}

/** Members may be added, and those without a value absent. `bindings` should accept any ids. */
export class FreeComparison implements Comparison {
	readonly #freedom: Freedom;
	readonly #matcher: MessageMatcher;
	/** The received part of a streamed text. */
	#streamed = "";

	constructor(bindings: Bindings, freedom: Freedom) {
		this.#freedom = freedom;
		this.#matcher = new MessageMatcher(bindings, { freeMembers: freedom.members, isComplete: false });
	}

	fill(text: string): string {
		const message = hasPlaceholder(text) ? parseTemplate(text) : undefined;
		if (message === undefined) return text;
		return JSON.stringify(this.#matcher.fill(message)) + (text.endsWith("\n") ? "\n" : "");
	}

	isOptional(line: string): boolean {
		return this.#freedom.isOptional(this.#nameOf(parseJson(line)));
	}

	differenceOf(text: string, line: string): string | null {
		const [expected, actual] = [parseTemplate(text), parseJson(line)];
		const [wanted, got] = [this.#pieceOf(expected), this.#pieceOf(actual)];
		if (wanted === null || got === null || wanted.name !== got.name) {
			this.#streamed = "";
			const kinds = [kindOf(expected, this.#nameOf(expected)), kindOf(actual, this.#nameOf(actual))];
			if (kinds[0] !== kinds[1]) return `expected ${kinds[0]}, not ${kinds[1]}`;
			return this.#matcher.differenceOf(expected, actual);
		}
		const together = this.#streamed + got.text;
		const isBeginning = wanted.text !== together && wanted.text.startsWith(together);
		this.#streamed = isBeginning ? together : "";
		return isBeginning ? more : this.#matcher.differenceOf(wanted.text, together, "/text");
	}

	/** Without optional messages, and with streamed pieces joined. */
	prepare(moves: readonly Move[]): readonly Move[] {
		const isNeeded = (text: string) => !this.#freedom.isOptional(this.#nameOf(parseTemplate(text)));
		const prepared: Move[] = [];
		for (const move of moves) {
			if (move.kind === "unordered") {
				prepared.push({ ...move, chains: move.chains.map((chain) => chain.filter(isNeeded)) });
			} else if (move.kind !== "receive") prepared.push(move);
			else if (isNeeded(move.text)) {
				const last = prepared.at(-1);
				const joined = last?.kind === "receive" ? this.#join(last.text, move.text) : null;
				if (joined === null) prepared.push(move);
				else prepared.splice(-1, 1, { ...move, text: joined });
			}
		}
		return prepared;
	}

	/** Joins two pieces of a text; null for anything else. */
	#join(text: string, next: string): string | null {
		const [piece, other] = [this.#pieceOf(parseTemplate(text)), this.#pieceOf(parseTemplate(next))];
		if (piece === null || other === null || piece.name !== other.name) return null;
		// The extent of a placeholder is unknown before the end of its text.
		if (hasPlaceholder(piece.text) || hasPlaceholder(other.text)) return null;
		return text.replace(JSON.stringify(piece.text), () => JSON.stringify(piece.text + other.text));
	}

	#nameOf(message: unknown): string {
		return isRecord(message) ? this.#freedom.nameOf(message) : "";
	}

	/** Name and text of a streamed piece; null for other messages. */
	#pieceOf(message: unknown): { readonly name: string; readonly text: string } | null {
		const name = this.#nameOf(message);
		const text = memberAt(message, this.#freedom.pieces[name] ?? ["none"]);
		return typeof text === "string" ? { name, text } : null;
	}
}

function kindOf(message: unknown, name: string): string {
	if (name !== "") return name;
	if (!isRecord(message)) return "a line that is not JSON";
	return message["error"] === undefined ? "a result" : "an error";
}
