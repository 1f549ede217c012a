// What the generated documents of a dialect are made of: the declarations that the server uses, and texts for people.
import type * as v from "valibot";
import type { ErrorNumbers } from "../../src/frontends/shared/error-numbers.ts";
import type { Protocol } from "../../src/frontends/shared/protocol.ts";
import type { EnvelopeRules } from "../../src/ports/rpc/envelope.ts";
import type { JsonSchema } from "./json-schema.ts";

/** A shape that other shapes are made of. */
export interface Value {
	readonly schema: v.GenericSchema;
	/** Where it is read from a client in another way than it is sent. */
	readonly fromClient?: v.GenericSchema;
}

/** An error under a name, with a number for each table of numbers; one of no name has one number, which stands for it. */
export interface ErrorEntry {
	readonly name: string | null;
	/** By the name of the table. */
	readonly numbers: Readonly<Record<string, number>>;
}

/** The members `method` and `params` of the line that carries a message, as JSON Schema. */
export type Carried = (
	type: string,
	payload: JsonSchema | null,
) => { readonly method: JsonSchema; readonly params: JsonSchema };

export interface ProtocolDescription {
	/** The name of its files: `docs/reference/protocol/<name>.md` and `schema/<name>.json`. */
	readonly name: string;
	readonly title: string;
	/** Markdown between the title and the first table. */
	readonly introduction: string;
	/** Markdown after the last table. */
	readonly closing: string;
	readonly protocol: Protocol;
	/** How events and requests travel. */
	readonly carry: { readonly event: Carried; readonly request: Carried };
	readonly rules: EnvelopeRules;
	readonly errors: readonly ErrorEntry[];
	/** What `data` of an error holds, always; null where that is anything or nothing. */
	readonly errorData: v.GenericSchema | null;
	/** By the names that the documents give them. */
	readonly values: Readonly<Record<string, Value>>;
	/** What brought a method, a message, a `Shape.field` or an error; null for what no version lists. */
	readonly sinceOf: ((what: string | number) => string | null) | null;
	/**
	 * Markdown for each method, event type, request type, value and error, and for each field as `Shape.field`.
	 * One for each, and no others: a missing or needless text is an error.
	 */
	readonly texts: Readonly<Record<string, string>>;
	/** Texts of another version for what is the same in this one; those that are not needed are no error. */
	readonly inherited?: Readonly<Record<string, string>>;
	/**
	 * Lines for each method, event type and request type, `→` those of the client and `←` those of the server: one text for each,
	 * and no others. Absent where the introduction alone has an example.
	 */
	readonly examples?: Readonly<Record<string, string>>;
}

/** What a document is made of: also of a dialect that is not JSON-RPC. */
export type DocumentDescription = Omit<ProtocolDescription, "carry" | "rules">;

/** Messages of the form `{type, payload}`, all under one method. */
export function typedMessage(method: string): Carried {
	return (type, payload) => ({
		method: { const: method },
		params: {
			type: "object",
			properties: { type: { const: type }, ...(payload === null ? {} : { payload }) },
			required: payload === null ? ["type"] : ["type", "payload"],
			additionalProperties: false,
		},
	});
}

export type Shapes = Readonly<Record<string, v.GenericSchema>>;

/** `set_plan_mode`, `session/create`, `$/cancel_request` and `TurnBegin` as names of shapes. */
export function shapeName(text: string): string {
	return text
		.split(/[^A-Za-z0-9]/)
		.map((word) => word.charAt(0).toUpperCase() + word.slice(1))
		.join("");
}

export const paramsName = (method: string): string => `${shapeName(method)}Params`;
export const resultName = (method: string): string => `${shapeName(method)}Result`;
/** What a client answers to a request of that type. */
export const answerName = (type: string): string => `${shapeName(type).replace(/Request$/, "")}Result`;

export const errorDataName = "ErrorData";

/** The shapes that clients send, by name. */
export function clientShapes({ protocol }: DocumentDescription): Shapes {
	return Object.fromEntries([
		...Object.entries(protocol.methods).map(([method, { params }]) => [paramsName(method), params]),
		...Object.entries(protocol.requests).map(([type, { result }]) => [answerName(type), result]),
	]);
}

/** The shapes that the server sends, by name. */
export function serverShapes({ protocol, errorData }: DocumentDescription): Shapes {
	return Object.fromEntries([
		...Object.entries(protocol.methods).flatMap(([method, { result }]) =>
			result === null ? [] : [[resultName(method), result]],
		),
		...Object.entries(protocol.events).flatMap(([type, payload]) =>
			payload === null ? [] : [[shapeName(type), payload]],
		),
		...Object.entries(protocol.requests).map(([type, { payload }]) => [shapeName(type), payload]),
		...(errorData === null ? [] : [[errorDataName, errorData] as const]),
	]);
}

/** Errors that are known by their numbers: those of the envelope and those of the kernel, smallest last. */
export function numberedErrors(rules: EnvelopeRules, errorNumbers: ErrorNumbers): ErrorEntry[] {
	const numbers = [
		rules.parseError?.code,
		rules.invalidRequest?.code,
		rules.unknownMethod("").code,
		rules.invalidParams("", { kind: "missing" }).code,
		...Object.values(errorNumbers).map(({ code }) => code),
	];
	const unique = [...new Set(numbers.filter((code) => code !== undefined))].sort((one, other) => other - one);
	return unique.map((code) => ({ name: null, numbers: { code } }));
}

/** Every number with which the dialect answers. */
export function errorCodes({ errors }: ProtocolDescription): number[] {
	return [...new Set(errors.flatMap(({ numbers }) => Object.values(numbers)))];
}

/** What an error is called in texts and histories. */
export function errorKey({ name, numbers }: ErrorEntry): string | number {
	return name ?? Object.values(numbers)[0] ?? "";
}
