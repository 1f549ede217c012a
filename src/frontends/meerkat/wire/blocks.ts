import * as v from "valibot";
import {
	type ContentPart,
	mediaPart,
	readDataUri,
	textPart,
	toDataUri,
	type UserInput,
} from "../../../api/values/content.ts";

export const textBlockSchema = v.object({ type: v.literal("text"), text: v.string() });
export const imageBlockSchema = v.object({
	type: v.literal("image"),
	media_type: v.pipe(v.string(), v.regex(/^image\/[a-z0-9.+-]{1,100}$/, "must be the type of an image")),
	source: v.literal("inline"),
	data: v.pipe(v.string(), v.check(isBase64, "must be base64")),
});
export const blockSchema = v.variant("type", [textBlockSchema, imageBlockSchema]);
export type Block = v.InferOutput<typeof blockSchema>;

export const blocksOrTextSchema = v.union(
	[v.string(), v.array(blockSchema)],
	'must be a text or a list of blocks: {"type":"text","text"} or {"type":"image","source":"inline","media_type","data"} with data in base64',
);
export type BlocksOrText = v.InferOutput<typeof blocksOrTextSchema>;

export function toInput(content: BlocksOrText): UserInput {
	return typeof content === "string" ? content : content.map(toPart);
}

export function toPart(block: Block): ContentPart {
	if (block.type === "text") return block;
	return mediaPart("image", toDataUri(block.media_type, block.data));
}

export function toBlocks(input: UserInput): BlocksOrText {
	if (typeof input === "string") return input;
	return input.flatMap((part): readonly Block[] => {
		if (part.type === "text") return [part];
		if (part.type !== "image_url") return [];
		const read = readDataUri(part.image_url.url);
		if (read === null || !/^image\/.{1,100}$/.test(read.mediaType)) return [];
		return [{ type: "image", media_type: read.mediaType, source: "inline", data: read.data }];
	});
}

/** Both, in order; texts are separated by an empty line. */
export function joined(first: BlocksOrText, second: BlocksOrText): BlocksOrText {
	if (first.length === 0) return second;
	if (typeof first === "string" && typeof second === "string") return `${first}\n\n${second}`;
	return [first, second].flatMap((content) => (typeof content === "string" ? [textPart(content)] : content));
}

/** Not one regular expression, because the text may have megabytes. */
function isBase64(text: string): boolean {
	const padding = text.indexOf("=");
	const end = padding === -1 ? "" : text.slice(padding);
	return text !== "" && (end === "" || end === "=" || end === "==") && !/[^A-Za-z0-9+/=]/.test(text);
}
