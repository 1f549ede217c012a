import { beginning } from "./well-formed.ts";

/** Joins nonempty parts on one line, each ending with a period. */
export function sentences(...parts: readonly string[]): string {
	return parts
		.filter((part) => part !== "")
		.map((part) => (/[.!?:]$/.test(part) ? part : `${part}.`))
		.join(" ");
}

export function oneLine(text: string): string {
	return text.replace(/\s+/g, " ").replace(/\p{Cc}/gu, "\ufffd");
}

export function cut(text: string, characters: number): string {
	return text.length > characters ? `${beginning(text, characters)}…` : text;
}
