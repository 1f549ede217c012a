// Compiles a schema to functions for the common cases and leaves the rest to the schema.
import * as v from "valibot";
import { isRecord } from "./json.ts";

const unsure = Symbol("unsure");
const unfit = Symbol("unfit");

type Read = (value: unknown) => unknown;

/** Returns the schema's output for a value, or null if invalid. */
export function createSchemaReader<S extends v.GenericSchema>(schema: S): (value: unknown) => v.InferOutput<S> | null {
	let read: Read | null = null;
	return (value) => {
		// Compiled on first use: most schemas are never needed.
		read ??= toRead(schema);
		const result = read(value);
		// The result is the schema's output; the test of these readers verifies its type.
		if (result !== unsure && result !== unfit) return result as v.InferOutput<S>;
		const parsed = v.safeParse(schema, value);
		return parsed.success ? parsed.output : null;
	};
}

const leaveToSchema: Read = () => unsure;

function toRead(schema: unknown): Read {
	if (!isNode(schema) || "fallback" in schema) return leaveToSchema;
	return "pipe" in schema ? pipeRead(schema["pipe"]) : plainRead(schema);
}

function plainRead(schema: Node): Read {
	switch (schema.type) {
		case "string":
			return (value) => (typeof value === "string" ? value : unfit);
		case "number":
			return (value) => (typeof value === "number" && !Number.isNaN(value) ? value : unfit);
		case "boolean":
			return (value) => (typeof value === "boolean" ? value : unfit);
		case "unknown":
			return (value) => value;
		case "literal":
			return (value) => (value === schema["literal"] ? value : unfit);
		case "picklist":
			return picklistRead(schema["options"]);
		case "nullable":
			return schema["default"] === undefined ? nullableRead(toRead(schema["wrapped"])) : leaveToSchema;
		case "optional":
		case "exact_optional":
			// The object checks whether the key exists.
			return presentRead(toRead(schema["wrapped"]));
		case "array":
			return arrayRead(toRead(schema["item"]));
		case "variant":
			return variantRead(schema["key"], schema["options"]);
		case "union":
			return unionRead(schema["options"]);
		case "object":
			return objectRead(schema["entries"]);
		default:
			return leaveToSchema;
	}
}

function presentRead(wrapped: Read): Read {
	return (value) => (value === undefined ? unsure : wrapped(value));
}

function picklistRead(options: unknown): Read {
	if (!Array.isArray(options)) return leaveToSchema;
	return (value) => (options.includes(value) ? value : unfit);
}

function nullableRead(wrapped: Read): Read {
	return (value) => (value === null ? null : wrapped(value));
}

function pipeRead(steps: unknown): Read {
	if (!Array.isArray(steps)) return leaveToSchema;
	const [first, ...actions] = steps.map((step: unknown) => (isAction(step) ? actionRead(step) : toRead(step)));
	if (first === undefined) return leaveToSchema;
	return (value) => {
		let result = first(value);
		for (const action of actions) {
			if (result === unfit || result === unsure) return result;
			result = action(result);
		}
		return result;
	};
}

function actionRead({ type, requirement }: Action): Read {
	if (type === "integer") return (value) => (Number.isInteger(value) ? value : unfit);
	if (typeof requirement !== "number") return leaveToSchema;
	switch (type) {
		case "min_value":
			return (value) => (typeof value === "number" && value >= requirement ? value : unsure);
		case "max_value":
			return (value) => (typeof value === "number" && value <= requirement ? value : unsure);
		case "min_length":
			return (value) => (typeof value === "string" && value.length >= requirement ? value : unsure);
		default:
			return leaveToSchema;
	}
}

function arrayRead(item: Read): Read {
	return (value) => {
		if (!Array.isArray(value)) return unfit;
		let items: unknown[] | null = null;
		for (let index = 0; index < value.length; index += 1) {
			const inner: unknown = value[index];
			const result = item(inner);
			if (result === unfit || result === unsure) return result;
			if (result !== inner) items ??= value.slice(0, index);
			items?.push(result);
		}
		return items ?? value;
	};
}

/** The first matching option wins: later ones are checked only after certain rejections. */
function unionRead(options: unknown): Read {
	if (!Array.isArray(options)) return leaveToSchema;
	const reads = options.map(toRead);
	return (value) => {
		for (const read of reads) {
			const result = read(value);
			if (result !== unfit) return result;
		}
		return unfit;
	};
}

/** Selects the option by the literal in the key. */
function variantRead(key: unknown, options: unknown): Read {
	if (typeof key !== "string" || !Array.isArray(options)) return leaveToSchema;
	const reads = new Map<unknown, Read>();
	for (const option of options) {
		const literal = isNode(option) && isRecord(option["entries"]) ? option["entries"][key] : null;
		// Other options, or duplicate literals, follow library rules.
		if (!isNode(literal) || literal.type !== "literal" || reads.has(literal["literal"])) return leaveToSchema;
		reads.set(literal["literal"], toRead(option));
	}
	return (value) => (isRecord(value) ? (reads.get(value[key])?.(value) ?? unfit) : unsure);
}

type Missing =
	| { readonly kind: "refused" }
	| { readonly kind: "left out" }
	| { readonly kind: "default"; value(): unknown };

interface Entry {
	readonly key: string;
	readonly read: Read;
	readonly missing: Missing;
}

function objectRead(entries: unknown): Read {
	if (!isRecord(entries)) return leaveToSchema;
	const all: Entry[] = [];
	for (const [key, schema] of Object.entries(entries)) {
		const missing = toMissing(schema);
		if (missing === null) return leaveToSchema;
		all.push({ key, read: toRead(schema), missing });
	}
	return (value) => {
		if (!isRecord(value)) return unsure;
		let index = 0;
		// Nearly every value has exactly these keys in this order and is returned unchanged.
		for (const key in value) {
			const entry = all[index];
			if (entry === undefined || entry.key !== key) return copyRead(all, value);
			const inner = value[key];
			const result = entry.read(inner);
			if (result === unfit || result === unsure) return result;
			if (result !== inner) return copyRead(all, value);
			index += 1;
		}
		return index === all.length ? value : copyRead(all, value);
	};
}

/** Copies the schema's keys in order and fills in missing ones. */
function copyRead(entries: readonly Entry[], value: Record<string, unknown>): unknown {
	const copy: Record<string, unknown> = {};
	for (const { key, read, missing } of entries) {
		let given = value[key];
		if (given === undefined) {
			if (missing.kind === "left out") continue;
			if (missing.kind === "refused") return unfit;
			given = missing.value();
		}
		const result = read(given);
		if (result === unfit || result === unsure) return result;
		copy[key] = result;
	}
	return copy;
}

/** Null for a key that only the library handles. */
function toMissing(schema: unknown): Missing | null {
	if (!isNode(schema) || "fallback" in schema || schema.type === "nullish") return null;
	if (schema.type !== "optional" && schema.type !== "exact_optional") return { kind: "refused" };
	const given = schema["default"];
	if (given === undefined) return { kind: "left out" };
	return { kind: "default", value: typeof given === "function" ? () => given() : () => given };
}

type Node = Readonly<Record<string, unknown>> & { readonly type: string };
type Action = { readonly type: string; readonly requirement?: unknown };

function isNode(value: unknown): value is Node {
	return isRecord(value) && typeof value["type"] === "string";
}

function isAction(value: unknown): value is Action {
	return isNode(value) && value["kind"] !== "schema";
}
