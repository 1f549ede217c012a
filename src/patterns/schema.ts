// Validates values against JSON Schemas of foreign origin (tools of clients, plugins and servers) in bounded time:
// nothing is compiled to code, and every step of a validation is counted.
import { createPace } from "../base/pace.ts";
import { type CompiledPattern, type CompilePattern, loadPatternCompiler } from "./pattern.ts";
import { fits } from "./schema-node.ts";
import { readSchema, SchemaFault } from "./schema-reader.ts";
import { type Place, Run, shorten, TooMuchWork } from "./schema-run.ts";
import type { Draft } from "./schema-shapes.ts";

export type CompiledSchema =
	/** `check` returns null for a valid value, else one sentence about its faults, or why it could not be validated. */
	| { readonly ok: true; readonly check: (value: unknown) => Promise<string | null> }
	/** A clause that names the place in the schema. */
	| { readonly ok: false; readonly reason: string };

/** Maximal values in a schema: objects, lists, texts and numbers alike. */
const maximumValues = 20_000;
const maximumCharacters = 2_000_000;
const maximumDepth = 100;
/** Instructions of all compiled patterns together. */
const maximumPatternSize = 50_000;
const maximumPatterns = 500;

const pace = createPace();

/** Compiles a schema; messages call the values `name`. */
export async function compileSchema(schema: unknown, draft: Draft, name: string): Promise<CompiledSchema> {
	try {
		const { root, patterns } = await pace.run(() => {
			checkSize(schema);
			return readSchema(schema, draft);
		});
		if (patterns.length > maximumPatterns) throw new SchemaFault(null, `has more than ${maximumPatterns} patterns`);
		let compile: CompilePattern | null = null;
		let size = 0;
		for (const { slot, place } of patterns) {
			compile ??= await loadPatternCompiler();
			const compilePattern = compile;
			const compiled: CompiledPattern = await pace.run(() => compilePattern(slot.source, "ecmascript"));
			if (!compiled.ok) {
				throw new SchemaFault(
					place,
					`has a pattern that cannot be used, "${shorten(slot.source)}": ${compiled.reason}`,
				);
			}
			slot.pattern = compiled.pattern;
			size += compiled.pattern.size;
			if (size > maximumPatternSize)
				throw new SchemaFault(place, "is one pattern too many: together they are too large");
		}
		return {
			ok: true,
			check: (value) =>
				pace.run(() => {
					const run = new Run();
					try {
						return fits(root, value, null, run, null) ? null : run.faults(name);
					} catch (thrown) {
						if (thrown instanceof TooMuchWork) return `the ${name} cannot be checked: ${thrown.message}`;
						throw thrown;
					}
				}),
		};
	} catch (thrown) {
		if (thrown instanceof SchemaFault) return { ok: false, reason: thrown.message };
		throw thrown;
	}
}

/** Stops at the limit. */
function checkSize(schema: unknown): void {
	const open: { readonly value: unknown; readonly depth: number; readonly place: Place | null }[] = [
		{ value: schema, depth: 0, place: null },
	];
	let values = 1;
	let characters = 0;
	const count = (newValues: number, newCharacters: number): void => {
		values += newValues;
		characters += newCharacters;
		if (values > maximumValues)
			throw new SchemaFault(null, `has more than ${maximumValues.toLocaleString("en")} values`);
		if (characters > maximumCharacters) {
			throw new SchemaFault(null, `has more than ${maximumCharacters.toLocaleString("en")} characters`);
		}
	};
	for (let next = open.pop(); next !== undefined; next = open.pop()) {
		const { value, depth, place } = next;
		if (depth > maximumDepth) throw new SchemaFault(place, `is nested more than ${maximumDepth} levels deep`);
		if (typeof value === "string") count(0, value.length);
		if (typeof value !== "object" || value === null) continue;
		const keys = Object.keys(value);
		count(keys.length, 0);
		for (const [key, inner] of Object.entries(value)) {
			if (!Array.isArray(value)) count(0, key.length);
			open.push({ value: inner, depth: depth + 1, place: { parent: place, key } });
		}
	}
}
