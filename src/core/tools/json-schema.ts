import type { JsonSchema } from "../../api/session-options.ts";
import type { CompiledSchema, SchemaAllowance } from "../patterns/schema.ts";

export type { CompiledSchema };

export type CompileJsonSchema = (schema: JsonSchema) => Promise<CompiledSchema>;

let reader: Promise<typeof import("../patterns/schema.ts")> | null = null;

/** Draft 2020-12 or the older draft it names. Refuses invalid or overly complex schemas; messages use `name`. */
export async function compileJsonSchema(schema: JsonSchema, name = "arguments"): Promise<CompiledSchema> {
	return await compile(schema, null, name);
}

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
	// The URI has several spellings; many servers still use draft 7.
	const draft = typeof $schema === "string" && /draft-0[4-7]/.test($schema) ? "older" : "newest";
	reader ??= import("../patterns/schema.ts");
	const { compileSchema } = await reader;
	return await compileSchema(schema, draft, name, allowance);
}
