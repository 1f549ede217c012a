// One refused schema would fail every turn. Arguments are still checked against the declared schema.
import { isRecord } from "../../../base/json.ts";
import type { ToolSpecification } from "../model.ts";

type Schema = Readonly<Record<string, unknown>>;

/** The tool with accepted parameters; removed constraints are noted in its description. */
export function withAcceptedParameters(tool: ToolSpecification): ToolSpecification {
	const known = mended.get(tool.parameters);
	const { parameters, note } = known ?? mend(tool.parameters);
	if (known === undefined) mended.set(tool.parameters, { parameters, note });
	if (parameters === tool.parameters) return tool;
	return { ...tool, parameters, description: note === "" ? tool.description : `${tool.description}\n\n${note}` };
}

interface Mended {
	readonly parameters: Schema;
	readonly note: string;
}

/** Cached, because tools have the same parameters in every request. */
const mended = new WeakMap<Schema, Mended>();

/** Not accepted at the root, where all providers require one object. */
const rootCombinations = ["anyOf", "oneOf", "allOf", "not", "enum", "const", "if", "then", "else"];

/** Maximum characters of constraints in a description. */
const longestNote = 4000;

function mend(schema: Schema): Mended {
	const left = rootCombinations.filter((keyword) => Object.hasOwn(schema, keyword));
	const isForeign = (keyword: string) => keyword === "$schema" || left.includes(keyword);
	const root = Object.keys(schema).some(isForeign)
		? Object.fromEntries(Object.entries(schema).filter(([keyword]) => !isForeign(keyword)))
		: schema;
	const inner = mendSchema(root);
	const parameters =
		isRecord(inner["properties"]) && inner["type"] === "object"
			? inner
			: { ...inner, type: "object", properties: inner["properties"] ?? {} };
	if (left.length === 0) return { parameters, note: "" };
	const constraints = JSON.stringify(Object.fromEntries(left.map((keyword) => [keyword, schema[keyword]])));
	return {
		parameters,
		note: constraints.length > longestNote ? "" : `The arguments must match this JSON Schema, too: ${constraints}`,
	};
}

const types: ReadonlySet<unknown> = new Set(["array", "boolean", "integer", "null", "number", "object", "string"]);
const mapsOfSchemas: ReadonlySet<string> = new Set(["properties", "patternProperties", "$defs", "definitions"]);
const listsOfSchemas: ReadonlySet<string> = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
const schemas: ReadonlySet<string> = new Set(["additionalProperties", "not", "contains", "if", "then", "else"]);

const texts: ReadonlySet<string> = new Set(["title", "description", "pattern", "format"]);
const numbers: ReadonlySet<string> = new Set([
	"minimum",
	"maximum",
	"exclusiveMinimum",
	"exclusiveMaximum",
	"multipleOf",
	"minLength",
	"maxLength",
	"minItems",
	"maxItems",
	"minProperties",
	"maxProperties",
]);

/** Returns the same schema if nothing changes. */
function mendSchema(schema: Schema): Schema {
	let isChanged = false;
	const entries = Object.entries(schema).flatMap(([keyword, value]) => {
		const mended = mendKeyword(keyword, value);
		if (mended !== value) isChanged = true;
		return mended === undefined ? [] : [[keyword, mended] as const];
	});
	const isList = schema["type"] === "array" || (Array.isArray(schema["type"]) && schema["type"].includes("array"));
	if (isList && !Object.hasOwn(schema, "items") && !Object.hasOwn(schema, "prefixItems")) {
		return Object.fromEntries([...entries, ["items", {}]]);
	}
	return isChanged ? Object.fromEntries(entries) : schema;
}

/** Undefined for an invalid value. */
function mendKeyword(keyword: string, value: unknown): unknown {
	if (keyword === "type") return mendType(value);
	if (keyword === "required")
		return Array.isArray(value) && value.every((name) => typeof name === "string") ? value : undefined;
	if (keyword === "enum") return Array.isArray(value) && value.length > 0 ? value : undefined;
	// Older drafts have a list here, one schema per position.
	if (keyword === "items") return Array.isArray(value) ? toEither(value) : mendInner(value);
	if (texts.has(keyword)) return typeof value === "string" ? value : undefined;
	if (numbers.has(keyword)) return typeof value === "number" ? value : undefined;
	if (schemas.has(keyword)) return mendInner(value);
	if (listsOfSchemas.has(keyword)) return Array.isArray(value) ? mendList(value) : undefined;
	if (mapsOfSchemas.has(keyword)) return isRecord(value) ? mendMap(value) : undefined;
	return value;
}

function mendInner(value: unknown): unknown {
	if (isRecord(value)) return mendSchema(value);
	return typeof value === "boolean" ? value : undefined;
}

function toEither(list: readonly unknown[]): unknown {
	return list.length === 0 ? {} : { anyOf: mendList(list) };
}

function mendType(value: unknown): unknown {
	if (types.has(value)) return value;
	if (!Array.isArray(value)) return undefined;
	const known = value.filter((type) => types.has(type));
	return known.length === value.length ? value : known.length === 0 ? undefined : known;
}

function mendList(list: readonly unknown[]): unknown {
	const changed = list.map((each) => (isRecord(each) ? mendSchema(each) : each));
	return changed.every((each, index) => each === list[index]) ? list : changed;
}

function mendMap(map: Schema): Schema {
	const entries = Object.entries(map).map(([name, each]) => [name, isRecord(each) ? mendSchema(each) : each] as const);
	return entries.every(([name, each]) => each === map[name]) ? map : Object.fromEntries(entries);
}
