import * as v from "valibot";
import { type ContentPart, mediaPart, readDataUri, toDataUri, type UserInput } from "../../api/values/content.ts";
import { KernelError } from "../../base/errors.ts";
import { attributeValue } from "../../base/text/quoting.ts";
import { meta, nullish } from "./schema.ts";

const annotated = { annotations: nullish(v.record(v.string(), v.unknown())), ...meta };

export const textBlockSchema = v.object({ type: v.literal("text"), text: v.string(), ...annotated });
export const imageBlockSchema = v.object({
	type: v.literal("image"),
	/** Base64. */
	data: v.string(),
	mimeType: v.string(),
	uri: nullish(v.string()),
	...annotated,
});
export const audioBlockSchema = v.object({
	type: v.literal("audio"),
	data: v.string(),
	mimeType: v.string(),
	...annotated,
});
export const resourceLinkSchema = v.object({
	type: v.literal("resource_link"),
	uri: v.string(),
	name: v.string(),
	title: nullish(v.string()),
	description: nullish(v.string()),
	mimeType: nullish(v.string()),
	size: nullish(v.number()),
	...annotated,
});
export const textResourceSchema = v.object({
	uri: v.string(),
	text: v.string(),
	mimeType: nullish(v.string()),
	...meta,
});
export const blobResourceSchema = v.object({
	uri: v.string(),
	/** Base64. */
	blob: v.string(),
	mimeType: nullish(v.string()),
	...meta,
});
export const resourceBlockSchema = v.object({
	type: v.literal("resource"),
	resource: v.union([textResourceSchema, blobResourceSchema]),
	...annotated,
});

export const contentBlockSchema = v.variant("type", [
	textBlockSchema,
	imageBlockSchema,
	audioBlockSchema,
	resourceLinkSchema,
	resourceBlockSchema,
]);
type ReceivedBlock = v.InferOutput<typeof contentBlockSchema>;

export const sentTextSchema = v.object({ type: v.literal("text"), text: v.string() });
export const sentImageSchema = v.object({ type: v.literal("image"), mimeType: v.string(), data: v.string() });
export const sentAudioSchema = v.object({ type: v.literal("audio"), mimeType: v.string(), data: v.string() });
export const sentLinkSchema = v.object({ type: v.literal("resource_link"), uri: v.string(), name: v.string() });

export const sentBlockSchema = v.variant("type", [sentTextSchema, sentImageSchema, sentAudioSchema, sentLinkSchema]);
export type SentBlock = v.InferOutput<typeof sentBlockSchema>;

/** The input of a prompt; a single text stays a plain string. Fails with `invalid-input` for unsupported content. */
export function toInput(blocks: readonly ReceivedBlock[]): UserInput {
	const [first, second] = blocks;
	if (first?.type === "text" && second === undefined) return first.text;
	return blocks.map(toPart);
}

function toPart(block: ReceivedBlock): ContentPart {
	switch (block.type) {
		case "text":
			return { type: "text", text: block.text };
		case "image":
		case "audio":
			return mediaPart(block.type, toDataUri(block.mimeType, block.data));
		case "resource_link":
			return { type: "text", text: linkText(block) };
		case "resource":
			return toResourcePart(block.resource);
	}
}

function toResourcePart(resource: Extract<ReceivedBlock, { type: "resource" }>["resource"]): ContentPart {
	if ("text" in resource) {
		return { type: "text", text: `<resource uri="${attributeValue(resource.uri)}">\n${resource.text}\n</resource>` };
	}
	const { blob, mimeType, uri } = resource;
	const kind = mimeType?.split("/")[0];
	if (mimeType !== null && (kind === "image" || kind === "audio")) return mediaPart(kind, toDataUri(mimeType, blob));
	throw new KernelError(
		"invalid-input",
		`The resource ${uri} is of the type ${mimeType ?? "unknown"}: only text, images and audio can be part of a prompt.`,
	);
}

/** A file is named by its path, which the agent's tools accept. */
function linkText({ uri, name, description }: Extract<ReceivedBlock, { type: "resource_link" }>): string {
	const about = description === null ? "" : ` (${description})`;
	return `[${name}](${filePath(uri) ?? uri})${about}`;
}

function filePath(uri: string): string | null {
	if (!uri.startsWith("file://")) return null;
	try {
		const { pathname, hash } = new URL(uri);
		return decodeURIComponent(pathname) + hash;
	} catch {
		return null;
	}
}

/** The block for a part that is neither text nor reasoning. */
export function toBlock(part: ContentPart): SentBlock {
	switch (part.type) {
		case "text":
			return { type: "text", text: part.text };
		case "think":
			return { type: "text", text: part.think };
		case "image_url":
			return mediaBlock("image", part.image_url.url);
		case "audio_url":
			return mediaBlock("audio", part.audio_url.url);
		case "video_url":
			return link("video", part.video_url.url);
	}
}

/** Embedded data is sent as is; other URLs become a link. */
function mediaBlock(type: "image" | "audio", url: string): SentBlock {
	const read = readDataUri(url);
	return read === null ? link(type, url) : { type, mimeType: read.mediaType, data: read.data };
}

function link(kind: string, uri: string): SentBlock {
	// Replaces a data URI of megabytes, which is useless as a link.
	return uri.startsWith("data:") ? { type: "text", text: `[${kind}]` } : { type: "resource_link", uri, name: kind };
}
