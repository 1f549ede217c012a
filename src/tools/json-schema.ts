// Checking values against JSON Schemas that come from outside (client tools). The validator is loaded when first used.
import { errorText } from "../base/errors.ts";
import type { JsonSchema } from "./tool.ts";

export type CompiledSchema =
	/** `check` gives null for a value that fits, else one sentence on what does not. */
	| { readonly ok: true; readonly check: (value: unknown) => string | null }
	| { readonly ok: false; readonly reason: string };

let validatorModule: Promise<typeof import("ajv/dist/2020.js")> | null = null;

/** Compiles a draft 2020-12 schema; a schema that is none is refused with the validator's words. */
export async function compileJsonSchema(schema: JsonSchema): Promise<CompiledSchema> {
	validatorModule ??= import("ajv/dist/2020.js");
	const { Ajv2020 } = await validatorModule;
	const validator = new Ajv2020({ strict: false, validateFormats: false, logger: false });
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
