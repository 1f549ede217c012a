// The JSON examples of the documents that clients were written from, and how what we send differs from them.
import { readFileSync } from "node:fs";
import path from "node:path";
import { isRecord } from "../../../src/base/json.ts";

const directory = path.join(import.meta.dirname, "../../fixtures/seeds");

/** The examples of one document, in its order: each on a line of its own, or apart by blank lines. */
export function readExamples(document: string): string[] {
	const text = readFileSync(path.join(directory, `${document}.txt`), "utf8");
	const separator = text.includes("\n\n") ? /\n\n+/ : /\n/;
	return text
		.split(separator)
		.map((example) => example.trim())
		.filter((example) => example !== "");
}

/** An example as a value; `{...}`, by which some stand for anything, is an empty object. */
export function toValue(example: string): unknown {
	return JSON.parse(example.replaceAll("{...}", "{}"));
}

/**
 * How our line differs from an example, as paths: `path` where a value is another one of the same type, `+path` for a
 * member that the example does not have, `-path` for one that we do not send, `!path` where the type is another.
 */
export function differences(ours: unknown, example: unknown, at = ""): string[] {
	if (isRecord(ours) && isRecord(example)) {
		return [...new Set([...Object.keys(example), ...Object.keys(ours)])].flatMap((key) => {
			const inner = at === "" ? key : `${at}.${key}`;
			if (!(key in ours)) return [`-${inner}`];
			return key in example ? differences(ours[key], example[key], inner) : [`+${inner}`];
		});
	}
	if (Array.isArray(ours) && Array.isArray(example) && ours.length === example.length) {
		return ours.flatMap((item, index) => differences(item, example[index], `${at}[${index}]`));
	}
	if (JSON.stringify(ours) === JSON.stringify(example)) return [];
	return [typeOf(ours) === typeOf(example) ? at : `!${at}`];
}

function typeOf(value: unknown): string {
	if (value === null) return "null";
	return Array.isArray(value) ? "list" : typeof value;
}
