import * as v from "valibot";

/** A file sent with a prompt; its content is base64. */
export const promptFileSchema = v.strictObject({
	name: v.pipe(v.string(), v.minLength(1), v.maxLength(255)),
	type: v.pipe(v.string(), v.maxLength(255)),
	data: v.string(),
});
export type PromptFile = v.InferOutput<typeof promptFileSchema>;
