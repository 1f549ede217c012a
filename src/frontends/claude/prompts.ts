import type { ContentPart, UserInput } from "../../api/values/content.ts";
import type { PromptContent } from "./wire.ts";

export function toUserInput(content: PromptContent): UserInput {
	return typeof content === "string" ? content : content.map(toPart);
}

function toPart(block: Exclude<PromptContent, string>[number]): ContentPart {
	if (block.type === "text") return block;
	const { source } = block;
	const url = source.type === "url" ? source.url : `data:${source.media_type};base64,${source.data}`;
	return { type: "image_url", image_url: { url, id: null } };
}
