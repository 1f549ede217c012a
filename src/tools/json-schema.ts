// Checking values against JSON Schemas that come from outside (tools of clients, plugins and servers). What reads them is
// loaded when first used.
import type { CompiledSchema } from "../patterns/schema.ts";
import type { JsonSchema } from "./tool.ts";

export type { CompiledSchema };

let reader: Promise<typeof import("../patterns/schema.ts")> | null = null;

/**
 * Reads a schema of draft 2020-12, or of an older one that it names; one that is none, or is too much, is refused with the
 * place and the reason.
 */
export async function compileJsonSchema(schema: JsonSchema): Promise<CompiledSchema> {
	const { $schema } = schema;
	// Spelled in several ways; the seventh draft is still what many servers use.
	const draft = typeof $schema === "string" && /draft-0[4-7]/.test($schema) ? "older" : "newest";
	reader ??= import("../patterns/schema.ts");
	const { compileSchema } = await reader;
	return await compileSchema(schema, draft, "arguments");
}
