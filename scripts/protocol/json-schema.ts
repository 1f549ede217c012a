// JSON Schema of a dialect, made of the schemas that the server uses: one file that every line of a conversation fits.
import { type ConversionConfig, toJsonSchemaDefs } from "@valibot/to-json-schema";
import * as v from "valibot";
import { isRecord } from "../../src/base/json.ts";
import {
	answerName,
	clientShapes,
	errorCodes,
	errorDataName,
	errorKey,
	type ProtocolDescription,
	paramsName,
	resultName,
	type Shapes,
	serverShapes,
	shapeName,
} from "./description.ts";

/** JSON Schema as far as it is used here. */
export interface JsonSchema {
	$ref?: string;
	title?: string;
	description?: string;
	type?: string | readonly string[];
	const?: unknown;
	enum?: readonly unknown[];
	anyOf?: readonly JsonSchema[];
	oneOf?: readonly JsonSchema[];
	items?: JsonSchema;
	properties?: Readonly<Record<string, JsonSchema>>;
	required?: readonly string[];
	additionalProperties?: JsonSchema | boolean;
	default?: unknown;
}

export type Definitions = Readonly<Record<string, JsonSchema>>;

/** Who sends what is described: clients may leave out what has a default, the server leaves out nothing. */
export type Sender = "client" | "server";

/** Said of what a client may get wrong at no cost. */
const lenient = "What does not fit is taken for absent.";

/** The shapes as JSON Schema, each of them referred to by its name where it is part of another. */
export function toDefinitions(shapes: Shapes, sender: Sender): Definitions {
	const definitions = toJsonSchemaDefs(shapes, {
		target: "draft-2020-12",
		typeMode: "output",
		ignoreActions: ["transform", "check", "readonly"],
		overrideSchema({ valibotSchema, jsonSchema, errors }) {
			const converted = convert(valibotSchema, jsonSchema, errors, sender);
			const isLenient = sender === "client" && "fallback" in valibotSchema;
			return isLenient ? { ...converted, description: lenient } : converted;
		},
	});
	return JSON.parse(JSON.stringify(definitions));
}

type Overridden = Parameters<NonNullable<ConversionConfig["overrideSchema"]>>[0];

function convert(
	schema: Overridden["valibotSchema"],
	jsonSchema: Overridden["jsonSchema"],
	errors: Overridden["errors"],
	sender: Sender,
): Overridden["jsonSchema"] {
	switch (schema.type) {
		case "custom":
			if (takesTextsByName(schema)) return { type: "object", additionalProperties: { type: "string" } };
			if (!takesObjectsAlone(schema)) throw new Error("A custom schema that is not one of objects cannot be told.");
			return { type: "object" };
		case "object":
		case "loose_object": {
			const { required: _, ...others } = jsonSchema;
			const needed = requiredKeys(schema, sender);
			return needed.length === 0 ? others : { ...others, required: needed };
		}
		case "record": {
			const { propertyNames: _, ...others } = jsonSchema;
			return others;
		}
		case "optional": {
			const { default: _, ...others } = jsonSchema;
			return sender === "server" ? others : jsonSchema;
		}
		default:
			if (errors !== undefined) throw new Error(errors.join(" "));
			return jsonSchema;
	}
}

/** What a custom schema takes is not written in it; it is tried out. */
function takesObjectsAlone(schema: Overridden["valibotSchema"]): boolean {
	const takes = (value: unknown) => v.is(schema, value);
	return takes({}) && takes({ a: [1] }) && ![[], "", 0, true, null, undefined].some(takes);
}

function takesTextsByName(schema: Overridden["valibotSchema"]): boolean {
	const takes = (value: unknown) => v.is(schema, value);
	return takes({}) && takes({ a: "" }) && ![{ a: 1 }, [], "", 0, true, null, undefined].some(takes);
}

function requiredKeys(schema: object, sender: Sender): string[] {
	const entries = "entries" in schema && isRecord(schema.entries) ? schema.entries : {};
	return Object.keys(entries).filter((key) => {
		const entry = entries[key];
		if (!isRecord(entry) || entry["type"] === "exact_optional") return false;
		return entry["type"] !== "optional" || (sender === "server" && entry["default"] !== undefined);
	});
}

const ref = (name: string): JsonSchema => ({ $ref: `#/$defs/${name}` });
const anyOf = (schemas: readonly JsonSchema[]): JsonSchema => ({ anyOf: schemas });

/** What a value is called where a client sends it. */
const fromClient = (name: string): string => `${name}FromClient`;

/** The file: a schema for any line, with a definition for each side and for each shape. */
export function toProtocolSchema(description: ProtocolDescription): object {
	const lines = toLines(description);
	const definitions = { ...lines, ...shapeDefinitions(description) };
	return {
		$schema: "https://json-schema.org/draft/2020-12/schema",
		title: description.title,
		description: "Any line of a conversation. What belongs to which method and message is listed under x-protocol.",
		...anyOf([ref("ClientLine"), ref("ServerLine")]),
		"x-protocol": toIndex(description),
		$defs: Object.fromEntries(reachable(definitions, Object.keys(lines)).map((name) => [name, definitions[name]])),
	};
}

function shapeDefinitions(description: ProtocolDescription): Definitions {
	const values = Object.entries(description.values);
	const ofServer = Object.fromEntries(values.map(([name, { schema }]) => [name, schema]));
	const ofClient = Object.fromEntries(
		values.map(([name, { schema, fromClient: read = schema }]) => [fromClient(name), read]),
	);
	return {
		...toDefinitions({ ...ofClient, ...clientShapes(description) }, "client"),
		...toDefinitions({ ...ofServer, ...serverShapes(description) }, "server"),
	};
}

function toLines(description: ProtocolDescription): Definitions {
	const { protocol, carry, rules } = description;
	const id: JsonSchema = rules.isId(1) ? { type: ["string", "integer"] } : { type: "string" };
	/** Of what the server asks. */
	const ownId: JsonSchema = { type: "string" };
	const versioned = { jsonrpc: { const: "2.0" } };
	const fromClient = (properties: Readonly<Record<string, JsonSchema>>, required: readonly string[]): JsonSchema => ({
		type: "object",
		properties: { ...versioned, ...properties },
		required: rules.versionOptional ? required : ["jsonrpc", ...required],
		...(rules.unknownKeysRefused ? { additionalProperties: false } : {}),
	});
	const fromServer = (properties: Readonly<Record<string, JsonSchema>>): JsonSchema => ({
		type: "object",
		...(rules.versionUnsent === true
			? { properties, required: Object.keys(properties) }
			: { properties: { ...versioned, ...properties }, required: ["jsonrpc", ...Object.keys(properties)] }),
		additionalProperties: false,
	});
	const calls = Object.entries(protocol.methods).flatMap(([method, { params, actsOn = "requests" }]) => {
		const properties = { method: { const: method }, params: ref(paramsName(method)) };
		const required = v.is(params, undefined) ? ["method"] : ["method", "params"];
		return [
			...(actsOn === "notifications" ? [] : [fromClient({ id, ...properties }, ["id", ...required])]),
			// With an id it would be a request.
			...(actsOn === "requests" ? [] : [fromClient({ id: { type: "null" }, ...properties }, required)]),
		];
	});
	const hasData = rules.errorDataAlways || description.errorData !== null;
	const error: JsonSchema = {
		type: "object",
		properties: {
			code: { enum: errorCodes(description) },
			message: { type: "string" },
			data: description.errorData === null ? {} : ref(errorDataName),
		},
		required: ["code", "message", ...(hasData ? ["data"] : [])],
		additionalProperties: false,
	};
	const clientError: JsonSchema = {
		type: "object",
		properties: { code: { type: "integer" }, message: { type: "string" }, data: {} },
		required: ["code", "message"],
	};
	const results = Object.entries(protocol.methods).flatMap(([method, { result }]) =>
		result === null ? [] : [ref(resultName(method))],
	);
	const { events, requests } = protocol;
	return {
		ClientLine: anyOf([ref("ClientCall"), ref("ClientAnswer")]),
		ServerLine: anyOf([ref("ServerEvent"), ref("ServerRequest"), ref("ServerAnswer")]),
		ClientCall: anyOf(calls),
		ClientAnswer: anyOf([
			fromClient({ id: ownId, result: anyOf(Object.keys(requests).map((type) => ref(answerName(type)))) }, [
				"id",
				"result",
			]),
			fromClient({ id: ownId, error: clientError }, ["id", "error"]),
		]),
		ServerEvent: anyOf(
			Object.entries(events).map(([type, payload]) =>
				fromServer({ ...carry.event(type, payload === null ? null : ref(shapeName(type))) }),
			),
		),
		ServerRequest: anyOf(
			Object.keys(requests).map((type) => fromServer({ id: ownId, ...carry.request(type, ref(shapeName(type))) })),
		),
		ServerAnswer: anyOf([
			fromServer({ id, result: anyOf(results) }),
			fromServer({ id: anyOf([id, { type: "null" }]), error }),
		]),
	};
}

/** Which shapes belong together, for whoever makes types of them. */
function toIndex(description: ProtocolDescription): object {
	const { protocol, sinceOf } = description;
	const since = (what: string | number) => (sinceOf === null ? {} : { since: sinceOf(what) });
	const mapped = <T>(table: Readonly<Record<string, T>>, map: (name: string, one: T) => object) =>
		Object.fromEntries(Object.entries(table).map(([name, one]) => [name, { ...since(name), ...map(name, one) }]));
	return {
		methods: mapped(protocol.methods, (method, { result, actsOn = "requests" }) => ({
			actsOn,
			params: ref(paramsName(method)),
			...(result === null ? {} : { result: ref(resultName(method)) }),
		})),
		events: mapped(protocol.events, (type, payload) => (payload === null ? {} : { payload: ref(shapeName(type)) })),
		requests: mapped(protocol.requests, (type) => ({ payload: ref(shapeName(type)), result: ref(answerName(type)) })),
		errors: description.errors.map((entry) => ({
			...(entry.name === null ? {} : { name: entry.name }),
			...entry.numbers,
			...since(errorKey(entry)),
		})),
	};
}

/** The names of the definitions that these lead to, they themselves included, in the order in which they are reached. */
export function reachable(definitions: Definitions, from: readonly string[]): string[] {
	const found = new Set(from);
	for (const name of found) {
		for (const [, next] of JSON.stringify(definitions[name] ?? {}).matchAll(/"#\/\$defs\/([^"]+)"/g)) {
			if (next !== undefined) found.add(next);
		}
	}
	return [...found];
}
