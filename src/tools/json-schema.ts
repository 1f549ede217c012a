// Checking values against JSON Schemas that come from outside (tools of clients, plugins and servers). The validator is
// loaded when first used.
import { errorText } from "../base/errors.ts";
import type { JsonSchema } from "./tool.ts";

export type CompiledSchema =
	/** `check` gives null for a value that fits, else one sentence on what does not. */
	| { readonly ok: true; readonly check: (value: unknown) => string | null }
	| { readonly ok: false; readonly reason: string };

type Validator = InstanceType<typeof import("ajv").Ajv>;

const validatorOptions = { strict: false, validateFormats: false, logger: false } as const;

let olderDrafts: Promise<typeof import("ajv")> | null = null;
let newestDraft: Promise<typeof import("ajv/dist/2020.js")> | null = null;

/** The validator for the draft that the schema says it is written in: the seventh is still what many servers use. */
async function createValidator({ $schema }: JsonSchema): Promise<Validator> {
	if (typeof $schema === "string" && /draft-0[4-7]/.test($schema)) {
		olderDrafts ??= import("ajv");
		return new (await olderDrafts).Ajv(validatorOptions);
	}
	newestDraft ??= import("ajv/dist/2020.js");
	return new (await newestDraft).Ajv2020(validatorOptions);
}

/** Compiles a schema of draft 2020-12, or of an older one that it names; one that is none is refused with the validator's words. */
export async function compileJsonSchema(given: JsonSchema): Promise<CompiledSchema> {
	const validator = await createValidator(given);
	// Spelled in several ways, some of which the validator does not know; which one is meant is settled.
	const { $schema: _, ...schema } = given;
	try {
		if (validator.validateSchema(schema) !== true) {
			return { ok: false, reason: validator.errorsText(validator.errors, { dataVar: "schema" }) };
		}
		const validate = validator.compile(schema);
		return {
			ok: true,
			check: (value) => (validate(value) ? null : validator.errorsText(validate.errors, { dataVar: "arguments" })),
		};
	} catch (thrown) {
		return { ok: false, reason: errorText(thrown) };
	}
}
