// Texts that the page makes of what events have.
import type { UserInput } from "../src/api/values/content.ts";

/** The text with a piece at its place: what is there already is not added again. */
export function joined(text: string, piece: string, offset: number | undefined): string {
	if (offset === undefined || offset === text.length) return text + piece;
	if (offset > text.length) return `${text}…${piece}`;
	return text + piece.slice(text.length - offset);
}

/** A window's name as people are shown it: without what distinguishes it from others of the same word. */
export const shownName = (name: string): string => name.replace(/^((?:window|phone) \w+) [0-9a-f]{8}$/, "$1");

export function plainInput(input: UserInput): string {
	if (typeof input === "string") return input;
	return input
		.map((part) => (part.type === "text" ? part.text : part.type === "think" ? "" : "[attachment]"))
		.join("\n");
}

/** The file that a text part of a prompt is, as the gateway writes one; null for what a person wrote. */
export function attachedFile(part: string): { readonly name: string; readonly text: string } | null {
	const [, name, text] = /^<file name="([^"\n]*)">\n([\s\S]*)\n<\/file>$/.exec(part) ?? [];
	if (name === undefined || text === undefined) return null;
	const characters: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };
	return { name: name.replace(/&(lt|gt|quot|apos|amp);/g, (whole, code: string) => characters[code] ?? whole), text };
}

/** The arguments of a call as far as they are readable. */
export function readArguments(text: string): Record<string, unknown> {
	try {
		const value: unknown = JSON.parse(text);
		return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
	} catch {
		return {};
	}
}

/** The one line that says what a call with these arguments does. */
export function headline(name: string, given: Readonly<Record<string, unknown>>): string {
	const first = ["command", "path", "file_path", "pattern", "query", "url", "description"]
		.map((key) => given[key])
		.find((value) => typeof value === "string");
	if (typeof first === "string") return first;
	const asked = Array.isArray(given["questions"]) ? given["questions"].flatMap(questionText) : [];
	return asked.length === 0 ? name : asked.join(" ");
}

function questionText(value: unknown): string[] {
	if (typeof value !== "object" || value === null || !("question" in value)) return [];
	return typeof value.question === "string" ? [value.question] : [];
}

/** The arguments of a call of which no headline is known, those that fit on a line. */
export function briefArguments(given: Readonly<Record<string, unknown>>): string {
	return Object.entries(given)
		.filter(([, value]) => ["string", "number", "boolean"].includes(typeof value))
		.map(([key, value]) => `${key}: ${String(value).slice(0, 200)}`)
		.join(", ");
}
