// The recorded conversations of test/fixtures/meerkat-0.9.
import { readdirSync, readFileSync } from "node:fs";

export type Value = null | boolean | number | string | readonly Value[] | { readonly [name: string]: Value };
export type Line = { readonly [name: string]: Value };

/** One line of a recording: who wrote it, and what; notes are about the process. */
export type Step =
	| { readonly kind: "sent" | "received"; readonly line: Line }
	| { readonly kind: "raw"; readonly text: string }
	| { readonly kind: "note"; readonly text: string };

const folder = new URL("../../../fixtures/meerkat-0.9/", import.meta.url);

export function recordingNames(): string[] {
	return readdirSync(folder)
		.filter((name) => name.endsWith(".jsonl"))
		.map((name) => name.replace(/\.jsonl$/, ""))
		.sort();
}

export function readRecording(name: string): Step[] {
	return readFileSync(new URL(`${name}.jsonl`, folder), "utf8")
		.split("\n")
		.filter((text) => text !== "")
		.map((text) => toStep(JSON.parse(text)));
}

function toStep({ dir, msg, raw }: { dir: string; msg?: Value; raw?: string }): Step {
	if (dir === "#") return { kind: "note", text: raw ?? "" };
	if (dir === ">" && raw !== undefined) return { kind: "raw", text: raw };
	const line = typeof msg === "object" && msg !== null && !Array.isArray(msg) ? (msg as Line) : {};
	return { kind: dir === ">" ? "sent" : "received", line };
}

/** A member of a value, or of a member of it, and so on; null where there is none. */
export function at(value: Value | undefined, ...path: readonly string[]): Value {
	return path.reduce<Value>(
		(each, name) =>
			typeof each === "object" && each !== null && !Array.isArray(each) ? ((each as Line)[name] ?? null) : null,
		value ?? null,
	);
}
