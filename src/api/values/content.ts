// Content values: what a person writes, a model says, a tool returns. They have the shape of the session files, so that no
// value is translated on its way to disk or client.
import * as v from "valibot";
import { isRecord } from "../../base/json.ts";

const nullableText = v.optional(v.nullable(v.string()), null);
const media = v.object({ url: v.string(), id: nullableText });

export const textPartSchema = v.object({ type: v.literal("text"), text: v.string() });
export const thinkPartSchema = v.object({ type: v.literal("think"), think: v.string(), encrypted: nullableText });
export const imagePartSchema = v.object({ type: v.literal("image_url"), image_url: media });
export const audioPartSchema = v.object({ type: v.literal("audio_url"), audio_url: media });
export const videoPartSchema = v.object({ type: v.literal("video_url"), video_url: media });

/** One part of a message. `encrypted` is the provider's reasoning signature; media URLs may be data URIs. */
export const contentPartSchema = v.variant("type", [
	textPartSchema,
	thinkPartSchema,
	imagePartSchema,
	audioPartSchema,
	videoPartSchema,
]);
export type TextPart = v.InferOutput<typeof textPartSchema>;
export type ContentPart = v.InferOutput<typeof contentPartSchema>;

/** A person's input: a plain string or a list of parts. */
export const userInputSchema = v.union([v.string(), v.array(contentPartSchema)]);
export type UserInput = v.InferOutput<typeof userInputSchema>;

/** `arguments` is JSON text; null when the model gave none. */
export const toolCallSchema = v.object({
	type: v.literal("function"),
	id: v.string(),
	function: v.object({ name: v.string(), arguments: nullableText }),
	extras: v.optional(v.nullable(v.record(v.string(), v.unknown())), null),
});
export type ToolCall = v.InferOutput<typeof toolCallSchema>;

export const todoSchema = v.object({ title: v.string(), status: v.picklist(["pending", "in_progress", "done"]) });
export type Todo = v.InferOutput<typeof todoSchema>;

export const briefBlockSchema = v.object({ type: v.literal("brief"), text: v.string() });
export const diffBlockSchema = v.object({
	type: v.literal("diff"),
	path: v.string(),
	old_text: v.string(),
	new_text: v.string(),
	old_start: v.optional(v.pipe(v.number(), v.integer()), 1),
	new_start: v.optional(v.pipe(v.number(), v.integer()), 1),
	is_summary: v.optional(v.boolean(), false),
});
export const todoBlockSchema = v.object({ type: v.literal("todo"), items: v.array(todoSchema) });
export const shellBlockSchema = v.object({ type: v.literal("shell"), language: v.string(), command: v.string() });
export const backgroundTaskBlockSchema = v.object({
	type: v.literal("background_task"),
	task_id: v.string(),
	kind: v.string(),
	status: v.string(),
	description: v.string(),
});

const knownBlockTypes: ReadonlySet<string> = new Set(["brief", "diff", "todo", "shell", "background_task"]);

/** An unknown block type: all keys but `type` are kept under `data`. */
export const unknownBlockSchema = v.pipe(
	v.looseObject({
		type: v.pipe(
			v.string(),
			v.check((type) => !knownBlockTypes.has(type)),
		),
	}),
	v.transform(({ type, ...rest }): { type: string; data: Record<string, unknown> } => {
		const { data, ...others } = rest as Record<string, unknown>;
		return { type, data: isRecord(data) && Object.keys(others).length === 0 ? data : rest };
	}),
);

/** What a tool call shows to people. */
export const displayBlockSchema = v.union([
	briefBlockSchema,
	diffBlockSchema,
	todoBlockSchema,
	shellBlockSchema,
	backgroundTaskBlockSchema,
	unknownBlockSchema,
]);
export type DisplayBlock = v.InferOutput<typeof displayBlockSchema>;
export type DiffBlock = v.InferOutput<typeof diffBlockSchema>;

/** A tool's answer: `output` and `message` are for the model, `display` for the person. */
export const toolReturnSchema = v.object({
	is_error: v.boolean(),
	output: v.union([v.string(), v.array(contentPartSchema)]),
	message: v.string(),
	display: v.array(displayBlockSchema),
	extras: v.optional(v.nullable(v.record(v.string(), v.unknown())), null),
});
export type ToolReturn = v.InferOutput<typeof toolReturnSchema>;

const count = v.pipe(v.number(), v.integer());

/** Tokens of one model call; the three input counts do not overlap. */
export const tokenUsageSchema = v.object({
	input_other: count,
	output: count,
	input_cache_read: count,
	input_cache_creation: count,
});
export type TokenUsage = v.InferOutput<typeof tokenUsageSchema>;

export function inputTokens(usage: TokenUsage): number {
	return usage.input_other + usage.input_cache_read + usage.input_cache_creation;
}

export function textPart(text: string): TextPart {
	return { type: "text", text };
}

export function toParts(input: UserInput): ContentPart[] {
	return typeof input === "string" ? [textPart(input)] : input;
}

/** The text parts, joined by a space and trimmed. */
export function inputText(input: UserInput): string {
	return typeof input === "string" ? input.trim() : joinTexts(input, " ").trim();
}

/** The text parts, joined by the separator. */
export function joinTexts(parts: readonly ContentPart[], separator: string): string {
	return parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(separator);
}

export function toolSuccess(value: Partial<Omit<ToolReturn, "is_error">>): ToolReturn {
	return { is_error: false, output: "", message: "", display: [], extras: null, ...value };
}

/** A failure that the model can read and correct; `brief` is the line people see. */
export function toolError(
	message: string,
	brief: string,
	value: Partial<Omit<ToolReturn, "is_error">> = {},
): ToolReturn {
	const display: DisplayBlock[] = brief === "" ? [] : [{ type: "brief", text: brief }];
	return { is_error: true, output: "", message, display, extras: null, ...value };
}

export type MediaKind = "image" | "audio" | "video";

export function mediaPart(kind: MediaKind, url: string): ContentPart {
	const medium = { url, id: null };
	switch (kind) {
		case "image":
			return { type: "image_url", image_url: medium };
		case "audio":
			return { type: "audio_url", audio_url: medium };
		case "video":
			return { type: "video_url", video_url: medium };
	}
}

export type MediaPart = Exclude<ContentPart, { type: "text" | "think" }>;

export function isMedia(part: ContentPart): part is MediaPart {
	return part.type !== "text" && part.type !== "think";
}

/** Whether it is a blank text, which many providers reject. */
export function isBlankText(part: ContentPart): boolean {
	return part.type === "text" && part.text.trim() === "";
}

export function readMedia(part: MediaPart): { readonly kind: MediaKind; readonly url: string } {
	switch (part.type) {
		case "image_url":
			return { kind: "image", url: part.image_url.url };
		case "audio_url":
			return { kind: "audio", url: part.audio_url.url };
		case "video_url":
			return { kind: "video", url: part.video_url.url };
	}
}

/** `data` is base64. */
export function toDataUri(mediaType: string, data: string): string {
	return `data:${mediaType};base64,${data}`;
}

/** The inverse of `toDataUri`; null for any other address. Avoids a regular expression over the data. */
export function readDataUri(uri: string): { readonly mediaType: string; readonly data: string } | null {
	const [head, mediaType] = /^data:([^;,]+);base64,/.exec(uri) ?? [];
	return head === undefined || mediaType === undefined ? null : { mediaType, data: uri.slice(head.length) };
}
