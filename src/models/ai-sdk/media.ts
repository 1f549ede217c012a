// Converts images, audio and video to the form of the packages: base64 data or a URL.
import type { LanguageModelV3FilePart, LanguageModelV3ToolResultOutput } from "@ai-sdk/provider";
import type { ContentPart, MediaKind } from "../../events/content.ts";

export type MediaPart = Exclude<ContentPart, { type: "text" | "think" }>;
type ResultBlock = Extract<LanguageModelV3ToolResultOutput, { type: "content" }>["value"][number];

type Source =
	| { readonly kind: "data"; readonly mediaType: string; readonly base64: string }
	| { readonly kind: "url"; readonly url: URL };

/** A media part in a user message, or a text instead of one that the model does not accept. */
export function toUserMedia(
	part: MediaPart,
	accepted: ReadonlySet<MediaKind>,
): LanguageModelV3FilePart | { type: "text"; text: string } {
	const { kind, url } = readMedia(part);
	const source = accepted.has(kind) ? readSource(url) : null;
	if (source === null) return { type: "text", text: leftOut(kind) };
	return source.kind === "data"
		? { type: "file", mediaType: source.mediaType || `${kind}/*`, data: source.base64 }
		: { type: "file", mediaType: `${kind}/*`, data: source.url };
}

/** The same in the result of a tool. */
export function toResultMedia(part: MediaPart, accepted: ReadonlySet<MediaKind>): ResultBlock {
	const { kind, url } = readMedia(part);
	const source = accepted.has(kind) ? readSource(url) : null;
	if (source === null) return { type: "text", text: leftOut(kind) };
	if (source.kind === "url") {
		return kind === "image" ? { type: "image-url", url: source.url.href } : { type: "file-url", url: source.url.href };
	}
	const data = { data: source.base64, mediaType: source.mediaType || `${kind}/*` };
	return kind === "image" ? { type: "image-data", ...data } : { type: "file-data", ...data };
}

function readMedia(part: MediaPart): { kind: MediaKind; url: string } {
	switch (part.type) {
		case "image_url":
			return { kind: "image", url: part.image_url.url };
		case "audio_url":
			return { kind: "audio", url: part.audio_url.url };
		case "video_url":
			return { kind: "video", url: part.video_url.url };
	}
}

function leftOut(kind: MediaKind): string {
	return `[${kind} left out: this model cannot be given it]`;
}

/** Null for what only another provider can read, such as the id of an uploaded file. */
function readSource(text: string): Source | null {
	if (!/^data:/i.test(text)) {
		const url = URL.canParse(text) ? new URL(text) : null;
		return url !== null && /^https?:$/.test(url.protocol) ? { kind: "url", url } : null;
	}
	const comma = text.indexOf(",");
	if (comma < 0) return null;
	const [mediaType = "", ...parameters] = text.slice("data:".length, comma).split(";");
	const content = text.slice(comma + 1);
	const isBase64 = parameters.some((parameter) => parameter.trim().toLowerCase() === "base64");
	return { kind: "data", mediaType: mediaType.trim().toLowerCase(), base64: isBase64 ? content : encode(content) };
}

function encode(percentEncoded: string): string {
	try {
		return Buffer.from(decodeURIComponent(percentEncoded), "utf8").toString("base64");
	} catch {
		return Buffer.from(percentEncoded, "utf8").toString("base64");
	}
}
