// Converts images and video, as the provider accepts them, to the form of the packages: base64 data or a URL.
import type { LanguageModelV3FilePart, LanguageModelV3ToolResultOutput } from "@ai-sdk/provider";
import { type MediaPart, readDataUri, readMedia } from "../../../api/values/content.ts";

type ResultBlock = Extract<LanguageModelV3ToolResultOutput, { type: "content" }>["value"][number];

/** A media part in a user message. */
export function toUserMedia(part: MediaPart): LanguageModelV3FilePart {
	const { kind, url } = readMedia(part);
	const source = readDataUri(url);
	return source === null
		? { type: "file", mediaType: `${kind}/*`, data: new URL(url) }
		: { type: "file", mediaType: source.mediaType, data: source.data };
}

/** The same in the result of a tool. */
export function toResultMedia(part: MediaPart): ResultBlock {
	const { kind, url } = readMedia(part);
	const source = readDataUri(url);
	if (source === null) return kind === "image" ? { type: "image-url", url } : { type: "file-url", url };
	return kind === "image" ? { type: "image-data", ...source } : { type: "file-data", ...source };
}
