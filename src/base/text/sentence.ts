// Builds one-line texts for people from sentences or from foreign text.
import { beginning } from "./well-formed.ts";

/** Joins the parts that are not empty on one line, each ended by a full stop. */
export function sentences(...parts: readonly string[]): string {
	return parts
		.filter((part) => part !== "")
		.map((part) => (/[.!?:]$/.test(part) ? part : `${part}.`))
		.join(" ");
}

/** Foreign text on one line, without terminal control characters. */
export function oneLine(text: string): string {
	return text.replace(/\s+/g, " ").replace(/\p{Cc}/gu, "\ufffd");
}

/** Foreign text, which may be of any length, with no more than so many characters of it. */
export function cut(text: string, characters: number): string {
	return text.length > characters ? `${beginning(text, characters)}…` : text;
}
