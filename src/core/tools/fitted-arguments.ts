// Accepts null for an optional argument and JSON text for a value that is not a string.

import type { JsonSchema } from "../../api/session-options.ts";
import { isRecord } from "../../base/json.ts";

/** Maximum depth; deeper values stay unchanged. */
const deepest = 16;

type Fit = (value: unknown) => unknown;

/** Returns the same value if nothing changed. */
export function fitArguments(value: unknown, schema: JsonSchema): unknown {
	return fitterOf(schema, schema, 0)(value);
}

const unchanged: Fit = (value) => value;

/** Fits values to a schema, which is looked at once for all of them: a list may have a hundred thousand items. */
function fitterOf(written: unknown, root: JsonSchema, depth: number): Fit {
	if (depth > deepest) return unchanged;
	const schemas = alternatives(written, root, 0).map((schema) => ({ schema, types: typesOf(schema) }));
	const types = new Set(schemas.flatMap((each) => each.types ?? []));
	// A schema without types accepts anything.
	if (schemas.length === 0 || schemas.some((each) => each.types === null)) return unchanged;
	return (given) => {
		const value = typeof given === "string" && !types.has("string") ? fromText(given, types) : given;
		const type = typeOf(value);
		const fitting = schemas.filter((each) => each.types?.includes(type) === true);
		// With several alternatives, the intended one is unknown.
		const [only] = fitting;
		if (only === undefined || fitting.length > 1) return value;
		if (Array.isArray(value)) return fitItems(value, fitterOf(only.schema["items"], root, depth + 1));
		return isRecord(value) ? fitMembers(value, only.schema, root, depth) : value;
	};
}

function fitItems(items: readonly unknown[], fitItem: Fit): unknown {
	const fitted = items.map((item) => fitItem(item));
	return fitted.some((item, index) => item !== items[index]) ? fitted : items;
}

/** Looks only at the members that the schema names: a model may send a hundred thousand others. */
function fitMembers(value: Readonly<Record<string, unknown>>, schema: JsonSchema, root: JsonSchema, depth: number) {
	const { properties, required } = schema;
	if (!isRecord(properties)) return value;
	const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
	const absent = new Set<string>();
	const fitted = new Map<string, unknown>();
	for (const [name, member] of Object.entries(properties)) {
		if (!Object.hasOwn(value, name)) continue;
		const inner = value[name];
		if (inner === null && !isRequired(name) && !takesNull(member, root)) {
			absent.add(name);
			continue;
		}
		const fit = fitterOf(member, root, depth + 1)(inner);
		if (fit !== inner) fitted.set(name, fit);
	}
	if (absent.size + fitted.size === 0) return value;
	const kept = Object.entries(value).filter(([name]) => !absent.has(name));
	return Object.fromEntries(kept.map(([name, inner]) => [name, fitted.has(name) ? fitted.get(name) : inner]));
}

function takesNull(written: unknown, root: JsonSchema): boolean {
	const schemas = alternatives(written, root, 0);
	return schemas.length === 0 || schemas.some((schema) => typesOf(schema)?.includes("null") !== false);
}

/** The JSON value in the text if the schema accepts its type; else the text. */
function fromText(text: string, types: ReadonlySet<string>): unknown {
	let parsed: unknown;
	try {
		parsed = JSON.parse(text);
	} catch {
		return text;
	}
	const type = typeOf(parsed);
	return types.has(type) || (type === "integer" && types.has("number")) ? parsed : text;
}

function typeOf(value: unknown): string {
	if (value === null) return "null";
	if (Array.isArray(value)) return "array";
	return Number.isInteger(value) ? "integer" : typeof value;
}

/** The types named by a schema or implied by its keywords; null if none. */
function typesOf({ type, properties, enum: values, const: constant }: JsonSchema): readonly string[] | null {
	if (typeof type === "string") return [type];
	if (Array.isArray(type)) return type.filter((each) => typeof each === "string");
	if (Array.isArray(values)) return values.map(typeOf);
	if (constant !== undefined) return [typeOf(constant)];
	return isRecord(properties) ? ["object"] : null;
}

function alternatives(written: unknown, root: JsonSchema, depth: number): readonly JsonSchema[] {
	if (!isRecord(written) || depth > deepest) return [];
	const { $ref: reference, anyOf, oneOf, allOf } = written;
	if (typeof reference === "string") return alternatives(resolve(reference, root), root, depth + 1);
	const choices = anyOf ?? oneOf ?? (Array.isArray(allOf) && allOf.length === 1 ? allOf : undefined);
	if (!Array.isArray(choices)) return [written];
	const each = choices.map((choice) => alternatives(choice, root, depth + 1));
	return each.some((schemas) => schemas.length === 0) ? [] : each.flat();
}

/** Resolves a local reference such as `#/$defs/item`. */
function resolve(reference: string, root: JsonSchema): unknown {
	if (!reference.startsWith("#")) return undefined;
	const names = reference.slice(1).split("/").slice(1);
	return names.reduce<unknown>((found, name) => {
		const key = name.replaceAll("~1", "/").replaceAll("~0", "~");
		return isRecord(found) && Object.hasOwn(found, key) ? found[key] : undefined;
	}, root);
}
