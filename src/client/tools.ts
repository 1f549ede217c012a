// Tools of the client's own process, and schemas for their arguments and for structured output.
import { messageOf } from "./errors.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

/** A schema of a library that implements Standard Schema with JSON Schema output, such as zod 4.2 or ArkType 2.1.28. */
export interface StandardSchema<Output = unknown> {
	readonly "~standard": {
		readonly version: 1;
		readonly vendor: string;
		readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
		readonly jsonSchema?: { readonly input: (options: { readonly target: "draft-2020-12" }) => JsonSchema };
		readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
	};
}

type StandardResult<Output> =
	| { readonly value: Output; readonly issues?: undefined }
	| { readonly issues: readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[] };

/** A plain JSON Schema (draft 2020-12) of an object, or a schema of a library. */
export type Schema<Output = unknown> = JsonSchema | StandardSchema<Output>;

/** The type that a schema describes; unknown for a plain JSON Schema. */
export type OutputOf<S> = S extends StandardSchema<infer Output> ? Output : unknown;

export interface ToolContext {
	/** Aborts when the call is no longer wanted: its turn was cancelled, or the session was closed. */
	readonly signal: AbortSignal;
	readonly callId: string;
	readonly sessionId: string;
}

export interface Tool {
	readonly name: string;
	readonly description: string;
	readonly parameters: JsonSchema;
	/** Returns text for the model, or a value shown to it as JSON. A throw is an error for the model. */
	call(args: unknown, context: ToolContext): Promise<unknown>;
}

/** Arguments are validated before `run` if the schema is from a library. */
export function tool<S extends Schema>(
	name: string,
	description: string,
	parameters: S,
	run: (args: OutputOf<S>, context: ToolContext) => unknown,
): Tool {
	return {
		name,
		description,
		parameters: toJsonSchema(parameters),
		async call(args, context) {
			const validated = validate(parameters, args).catch((thrown: unknown) => {
				throw new TypeError(`the arguments do not fit the schema: ${messageOf(thrown)}`);
			});
			return run(await validated, context);
		},
	};
}

const isStandard = (schema: Schema): schema is StandardSchema => "~standard" in schema;

/** Fails for a schema of a library that has no JSON Schema output. */
export function toJsonSchema(schema: Schema): JsonSchema {
	if (!isStandard(schema)) return schema;
	const { jsonSchema, vendor } = schema["~standard"];
	if (jsonSchema === undefined) {
		throw new TypeError(
			`The schema (${vendor}) has no JSON Schema output. Use zod 4.2 or later, ArkType 2.1.28 or later, valibot's toStandardJsonSchema, or pass a JSON Schema.`,
		);
	}
	return jsonSchema.input({ target: "draft-2020-12" });
}

/** Fails with the library's own messages. A plain JSON Schema validates nothing here. */
export async function validate<S extends Schema>(schema: S, value: unknown): Promise<OutputOf<S>> {
	// Without a library there is no narrower type than unknown.
	if (!isStandard(schema)) return value as OutputOf<S>;
	const result = await schema["~standard"].validate(value);
	if (result.issues === undefined) return result.value as OutputOf<S>;
	const issues = result.issues.map(({ message, path = [] }) =>
		path.length === 0 ? message : `${path.map(toKey).join(".")}: ${message}`,
	);
	throw new TypeError(issues.join("; "));
}

function toKey(part: unknown): string {
	return String(typeof part === "object" && part !== null && "key" in part ? part.key : part);
}

/** Calls the tool with arguments as the model wrote them. Never throws. */
export async function callTool(
	called: Tool,
	text: string | null,
	context: ToolContext,
): Promise<{ readonly isError: boolean; readonly output: string }> {
	try {
		const args: unknown = text === null || text.trim() === "" ? {} : JSON.parse(text);
		const value = await called.call(args, context);
		return { isError: false, output: typeof value === "string" ? value : (JSON.stringify(value) ?? "") };
	} catch (thrown) {
		return { isError: true, output: `${called.name} failed: ${messageOf(thrown)}` };
	}
}
