// Checks values against JSON Schemas of clients, plugins and servers. The schema compiler is loaded on first use.
import type { CompiledSchema, SchemaAllowance } from "../patterns/schema.ts";
import type { JsonSchema } from "./tool.ts";

export type { CompiledSchema };

/** Compiles a schema as `compileJsonSchema` does. */
export type CompileJsonSchema = (schema: JsonSchema) => Promise<CompiledSchema>;

let reader: Promise<typeof import("../patterns/schema.ts")> | null = null;

/**
 * Compiles a schema of draft 2020-12, or of an older one that it names; an invalid or too complex one is refused with
 * the place and the reason. Messages call the values `name`.
 */
export async function compileJsonSchema(schema: JsonSchema, name = "arguments"): Promise<CompiledSchema> {
	return await compile(schema, null, name);
}

/** Compiles the schemas that one owner declares, which are bounded together as well. */
export function createSchemaCompiler(owner: string): CompileJsonSchema {
	let allowance: SchemaAllowance | null = null;
	return async (schema) => {
		reader ??= import("../patterns/schema.ts");
		const { createSchemaAllowance } = await reader;
		allowance ??= createSchemaAllowance(owner);
		return await compile(schema, allowance, "arguments");
	};
}

async function compile(schema: JsonSchema, allowance: SchemaAllowance | null, name: string): Promise<CompiledSchema> {
	const { $schema } = schema;
	// Spelled in several ways; many servers still use draft 7.
	const draft = typeof $schema === "string" && /draft-0[4-7]/.test($schema) ? "older" : "newest";
	reader ??= import("../patterns/schema.ts");
	const { compileSchema } = await reader;
	return await compileSchema(schema, draft, name, allowance);
}
