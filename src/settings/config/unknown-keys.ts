// Finds settings file keys that the program ignores: `kimi` and later versions may use them, but one may be misspelled.
import { isRecord } from "../../base/json.ts";
import { toKeyPath } from "./configuration-error.ts";
import { configurationFileSchema } from "./schema.ts";

/** The paths of keys missing from the schema, in file order. */
export function unknownKeys(settings: unknown): string[] {
	return find(settings, configurationFileSchema, []).map(toKeyPath);
}

/** The schema is treated as data: its library has no type for "any schema with entries". */
function find(value: unknown, schema: unknown, path: readonly unknown[]): (readonly unknown[])[] {
	if (!isRecord(schema)) return [];
	const { wrapped, pipe, entries, type } = schema;
	if (wrapped !== undefined) return find(value, wrapped, path);
	if (Array.isArray(pipe)) return pipe.flatMap((part) => find(value, part, path));
	if (type === "array" && Array.isArray(value)) {
		return value.flatMap((item, index) => find(item, schema["item"], [...path, index]));
	}
	if (!isRecord(value)) return [];
	if (type === "record") {
		return Object.entries(value).flatMap(([key, inner]) => find(inner, schema["value"], [...path, key]));
	}
	if (!isRecord(entries)) return [];
	return Object.entries(value).flatMap(([key, inner]) =>
		Object.hasOwn(entries, key) ? find(inner, entries[key], [...path, key]) : [[...path, key]],
	);
}
