import * as v from "valibot";
import {
	type ContentPart,
	type MediaKind,
	mediaPart,
	type ToolReturn,
	textPart,
	toolError,
	toolSuccess,
} from "../../api/values/content.ts";
import { beginning, toWellFormed } from "../../base/text/well-formed.ts";

/** As loose as possible: the parts are checked below. */
export const callResultSchema = v.object({
	content: v.nullish(v.array(v.unknown())),
	structuredContent: v.optional(v.unknown()),
	isError: v.optional(v.unknown()),
});
export type CallResult = v.InferOutput<typeof callResultSchema>;

/** Characters of text and media URLs. */
const budget = 100_000;
const partLimit = 1000;
/** Maximum characters for the description of an unknown part. */
const descriptionLength = 200;

export function toToolReturn({ content, structuredContent, isError }: CallResult): ToolReturn {
	const pieces = (content ?? []).slice(0, partLimit).map(toPiece);
	const beyond = (content?.length ?? 0) - pieces.length;
	// Some servers return only the structured form.
	if (pieces.length === 0 && (structuredContent ?? null) !== null)
		pieces.push(textPiece(JSON.stringify(structuredContent)));
	const output = keepWithin(pieces);
	if (beyond > 0) output.push(textPart(`[The result has ${beyond} more parts, which were left out.]`));
	if (isError !== true) return toolSuccess({ output });
	return toolError("The MCP tool reported an error.", "", { output });
}

/** A part with known length but unbuilt URL, so that no huge URL is built and then dropped. */
type Piece =
	| { readonly kind: "text"; readonly text: string }
	| { readonly kind: "media"; readonly length: number; toPart(): ContentPart };

function textPiece(text: string): Piece {
	return { kind: "text", text };
}

function keepWithin(pieces: readonly Piece[]): ContentPart[] {
	const parts: ContentPart[] = [];
	let left = budget;
	let cut = 0;
	let dropped = 0;
	for (const piece of pieces) {
		if (piece.kind === "media") {
			if (piece.length > left) dropped += 1;
			else parts.push(piece.toPart());
			left -= piece.length > left ? 0 : piece.length;
			continue;
		}
		const text = beginning(piece.text, left);
		cut += piece.text.length - text.length;
		left -= text.length;
		if (text !== "" || piece.text === "") parts.push(textPart(toWellFormed(text)));
	}
	if (cut > 0 || dropped > 0) parts.push(textPart(describeLoss(cut, dropped)));
	return parts;
}

function describeLoss(cut: number, dropped: number): string {
	const losses = [
		...(cut > 0 ? [`${cut} characters of text`] : []),
		...(dropped > 0 ? [dropped === 1 ? "1 media item" : `${dropped} media items`] : []),
	];
	return `[The result was cut at ${budget} characters: ${losses.join(" and ")} left out.]`;
}

const text = v.string();
const uri = v.optional(text, "");
const mimeType = v.optional(v.nullable(text), null);
const blockSchema = v.union([
	v.object({ type: v.literal("text"), text }),
	v.object({ type: v.picklist(["image", "audio"]), data: text, mimeType }),
	v.object({ type: v.literal("resource"), resource: v.object({ uri, mimeType, blob: text }) }),
	v.object({ type: v.literal("resource"), resource: v.object({ uri, mimeType, text }) }),
	v.object({ type: v.literal("resource_link"), uri: text, mimeType }),
]);

function toPiece(value: unknown): Piece {
	const parsed = v.safeParse(blockSchema, value);
	if (!parsed.success) {
		const named = v.safeParse(v.object({ type: text }), value);
		return unsupported({ what: named.success ? named.output.type : "no content block", uri: "", mimeType: null });
	}
	const block = parsed.output;
	switch (block.type) {
		case "text":
			return textPiece(block.text);
		case "image":
		case "audio":
			return toMedia(block.type, dataUrl(block.mimeType ?? `${block.type}/*`, block.data));
		case "resource": {
			const { resource } = block;
			if ("text" in resource) return unsupported({ what: "resource", ...resource, content: resource.text });
			const kind = mediaKind(resource.mimeType);
			if (kind === null) return unsupported({ what: "resource", ...resource });
			return toMedia(kind, dataUrl(resource.mimeType ?? "", resource.blob));
		}
		case "resource_link": {
			const kind = mediaKind(block.mimeType);
			if (kind === null) return unsupported({ what: "resource link", ...block });
			return toMedia(kind, { length: block.uri.length, make: () => block.uri });
		}
	}
}

interface Url {
	readonly length: number;
	make(): string;
}

function dataUrl(mimeType: string, data: string): Url {
	const head = `data:${mimeType};base64,`;
	return { length: head.length + data.length, make: () => head + data };
}

function mediaKind(mimeType: string | null): MediaKind | null {
	const kind = mimeType?.split("/")[0]?.toLowerCase();
	return kind === "image" || kind === "audio" || kind === "video" ? kind : null;
}

function toMedia(kind: MediaKind, { length, make }: Url): Piece {
	return { kind: "media", length, toPart: () => mediaPart(kind, make()) };
}

interface Unsupported {
	readonly what: string;
	readonly uri: string;
	readonly mimeType: string | null;
	readonly content?: string;
}

/** Names unsupported content, followed by the content if it is text. */
function unsupported({ what, uri, mimeType, content }: Unsupported): Piece {
	const words = [what, uri, mimeType === null ? "" : `(${mimeType})`].filter((word) => word !== "").join(" ");
	const shown = beginning(words, descriptionLength);
	return textPiece(
		content === undefined
			? `[Unsupported content: ${shown}]`
			: `[Unsupported content: ${shown}, as plain text:]\n${content}`,
	);
}
