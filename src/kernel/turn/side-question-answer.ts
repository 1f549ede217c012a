import { joinTexts, textPart } from "../../api/values/content.ts";
import type { HistoryEntry } from "../../api/values/conversation.ts";
import type { EventBodyOf, TurnError } from "../../api/values/event.ts";
import type { Context } from "../../core/agent/context.ts";
import { emptyAnswer, toTurnError } from "../../core/agent/retries.ts";
import { askSilently, incompleteText, type Retrying } from "../../core/agent/silent-call.ts";
import { modelNotSet } from "../../core/agent/turn.ts";
import type { Model } from "../../core/models/model.ts";

export interface SideQuestionAgent {
	readonly model: Model | null;
	readonly unsetModelAlias: string | null;
	readonly context: Pick<Context, "systemPrompt" | "requestMessages">;
	readonly cacheKey: string;
	exhausted(): TurnError | null;
	readonly retrying: Retrying;
}

export type SideAnswer =
	| { readonly kind: "answered"; readonly response: string }
	| { readonly kind: "unasked" }
	| { readonly kind: "cancelled" }
	| { readonly kind: "failed"; readonly error: TurnError };

const introduction =
	"This is a side question, outside the task. Answer it briefly from what you know of this conversation; you cannot use tools for it, and the task continues unaffected.";

export async function answerSideQuestion(
	question: string,
	agent: SideQuestionAgent,
	signal: AbortSignal,
): Promise<SideAnswer> {
	const { model, unsetModelAlias, context, cacheKey } = agent;
	if (question === "") return { kind: "unasked" };
	if (model === null) return { kind: "failed", error: modelNotSet(unsetModelAlias) };
	const spent = agent.exhausted();
	if (spent !== null) return { kind: "failed", error: spent };
	const asked: HistoryEntry = { role: "user", content: [textPart(`${introduction}\n\n${question}`)] };
	const messages = [...answeredMessages(context.requestMessages()), asked];
	const request = { systemPrompt: context.systemPrompt, messages, cacheKey };
	const answer = await askSilently(model, request, agent.retrying, signal);
	if (answer.kind === "cancelled") return answer;
	if (answer.kind === "failed") return { kind: "failed", error: toTurnError(answer.failure) };
	const response = joinTexts(answer.content, "").trim();
	const note = answer.end === null ? "" : `\n\n[${incompleteText(answer.end)}]`;
	return response === ""
		? { kind: "failed", error: toTurnError(emptyAnswer) }
		: { kind: "answered", response: response + note };
}

export const unaskedText = "There is no question: write it after /btw.";

export function toEnd(answer: SideAnswer): Pick<EventBodyOf<"side-question.ended">, "response" | "error"> {
	switch (answer.kind) {
		case "answered":
			return { response: answer.response, error: null };
		case "unasked":
			return { response: null, error: unaskedText };
		case "cancelled":
			return { response: null, error: "The question was stopped." };
		case "failed":
			return { response: null, error: answer.error.message };
	}
}

/** The history up to the last message that needs no answer. A trailing user message would run into the question. */
function answeredMessages(messages: readonly HistoryEntry[]): readonly HistoryEntry[] {
	const end = messages.findLastIndex(({ role }) => role !== "user");
	return messages.slice(0, end + 1);
}
