import * as v from "valibot";
import { count, plainObject } from "../wire/schema.ts";
import { configViewSchema } from "./config-view.ts";

/** Rejects the change unless the configuration has this generation. */
const expectedGeneration = { expected_generation: v.exactOptional(v.nullable(count)) };
export const configSetParamsSchema = v.pipe(
	plainObject,
	v.looseObject({ config: v.exactOptional(v.unknown()), ...expectedGeneration }),
);
export type ConfigSetParams = v.InferOutput<typeof configSetParamsSchema>;
export const configPatchParamsSchema = v.pipe(
	plainObject,
	v.looseObject({ patch: v.exactOptional(v.unknown()), ...expectedGeneration }),
);
export type ConfigPatchParams = v.InferOutput<typeof configPatchParamsSchema>;

const configEnvelopeSchema = v.object({
	config: configViewSchema,
	generation: count,
	/** Only for servers with a realm. */
	realm_id: v.exactOptional(v.string()),
	instance_id: v.exactOptional(v.nullable(v.string())),
	backend: v.exactOptional(v.picklist(["jsonl", "memory"])),
});
export const configResultSchema = v.union([configViewSchema, configEnvelopeSchema]);
export type ConfigResult = v.InferOutput<typeof configResultSchema>;
export const configSetResultSchema = v.union([v.object({ ok: v.literal(true) }), configEnvelopeSchema]);
export type ConfigSetResult = v.InferOutput<typeof configSetResultSchema>;
