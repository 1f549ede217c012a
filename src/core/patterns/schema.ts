// Untrusted schemas are checked in bounded time: no generated code, and every step is counted.
import { createPace } from "../../base/pace.ts";
import { type CompiledPattern, type CompilePattern, loadPatternCompiler } from "./pattern.ts";
import { fits } from "./schema-node.ts";
import { readSchema, SchemaFault } from "./schema-reader.ts";
import { type Place, Run, shorten, TooMuchWork } from "./schema-run.ts";
import type { Draft } from "./schema-shapes.ts";

export type CompiledSchema =
	/** `check` returns null for a valid value, else a sentence with the faults or the reason why validation failed. */
	| { readonly ok: true; readonly check: (value: unknown) => Promise<string | null> }
	| { readonly ok: false; readonly reason: string };

/** Maximum number of values in a schema: objects, lists, texts and numbers. */
const maximumValues = 20_000;
const maximumCharacters = 2_000_000;
const maximumDepth = 100;
/** Maximum total instructions of all compiled patterns. */
const maximumPatternSize = 50_000;
const maximumPatterns = 500;

const pace = createPace();

export interface SchemaAllowance {
	values: number;
	characters: number;
	readonly owner: string;
}

/** The budget for all schemas of one owner, which stay compiled in memory. */
export function createSchemaAllowance(owner: string): SchemaAllowance {
	return { values: 5 * maximumValues, characters: 2 * maximumCharacters, owner };
}

export async function compileSchema(
	schema: unknown,
	draft: Draft,
	name: string,
	allowance: SchemaAllowance | null = null,
): Promise<CompiledSchema> {
	try {
		const { root, patterns, used } = await pace.run(() => {
			const used = checkSize(schema, allowance);
			return { ...readSchema(schema, draft), used };
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
		if (allowance !== null) {
			allowance.values -= used.values;
			allowance.characters -= used.characters;
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

interface SchemaSize {
	readonly values: number;
	readonly characters: number;
}

/** Stops at the limits. */
function checkSize(schema: unknown, allowance: SchemaAllowance | null): SchemaSize {
	const open: { readonly value: unknown; readonly depth: number; readonly place: Place | null }[] = [
		{ value: schema, depth: 0, place: null },
	];
	let values = 1;
	let characters = 0;
	const count = (newValues: number, newCharacters: number): void => {
		values += newValues;
		characters += newCharacters;
		checkLimit(values, maximumValues, allowance, "values");
		checkLimit(characters, maximumCharacters, allowance, "characters");
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
	return { values, characters };
}

function checkLimit(
	size: number,
	limit: number,
	allowance: SchemaAllowance | null,
	unit: "values" | "characters",
): void {
	if (size > limit) throw new SchemaFault(null, `has more than ${limit.toLocaleString("en")} ${unit}`);
	if (allowance === null || size <= allowance[unit]) return;
	const all = createSchemaAllowance(allowance.owner)[unit].toLocaleString("en");
	throw new SchemaFault(null, `has too many ${unit}: all schemas of ${allowance.owner} together may have ${all}`);
}
