import { textPart } from "../../api/values/content.ts";
import type { HistoryEntry } from "../../api/values/conversation.ts";
import type { ModelRequest } from "../models/model.ts";
import type { TurnDependencies } from "./dependencies.ts";

export function requestBasis({
	context,
	systemPrompt,
	instructions = [],
	sampling = {},
	cacheKey,
}: Pick<TurnDependencies, "context" | "systemPrompt" | "instructions" | "sampling" | "cacheKey">): Pick<
	ModelRequest,
	"systemPrompt" | "cacheKey" | "sampling"
> {
	return {
		systemPrompt: [systemPrompt ?? context.systemPrompt, ...instructions].filter((text) => text !== "").join("\n\n"),
		cacheKey,
		...(Object.keys(sampling).length === 0 ? {} : { sampling }),
	};
}

/** The conversation, with this turn's temporary context after the last user message. */
export function requestMessages({
	context,
	passingContext,
}: Pick<TurnDependencies, "context" | "passingContext">): HistoryEntry[] {
	const messages = context.requestMessages();
	if (passingContext === undefined) return messages;
	const at = messages.findLastIndex(({ role }) => role === "user");
	const last = messages[at];
	if (last === undefined) return [...messages, { role: "user", content: [textPart(passingContext)] }];
	return messages.with(at, { ...last, content: [...last.content, textPart(passingContext)] });
}
