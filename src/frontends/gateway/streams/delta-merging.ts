import type { AgentEvent, EventBody } from "../../../api/values/event.ts";

export function mergeEvents(first: AgentEvent, second: AgentEvent): AgentEvent | null {
	if (first.turnId !== second.turnId || !isSameAgent(first, second)) return null;
	const body = mergeBodies(first.body, second.body);
	return body === null ? null : { ...first, body };
}

function isSameAgent({ agentPath: one }: AgentEvent, { agentPath: other }: AgentEvent): boolean {
	return one.length === other.length && one.at(-1)?.agentId === other.at(-1)?.agentId;
}

function mergeBodies(first: EventBody, second: EventBody): EventBody | null {
	if (first.type === "content.delta" && second.type === "content.delta") {
		const { part: one, offset } = first;
		const { part: other, offset: next } = second;
		if (one.type === "text" && other.type === "text" && follows(offset, one.text, next))
			return { ...first, part: { ...one, text: one.text + other.text } };
		const isThinking = one.type === "think" && other.type === "think" && !one.encrypted && !other.encrypted;
		if (isThinking && follows(offset, one.think, next))
			return { ...first, part: { ...one, think: one.think + other.think } };
		return null;
	}
	if (first.type === "tool-call.delta" && second.type === "tool-call.delta") {
		const [one, other] = [first.arguments_part ?? "", second.arguments_part ?? ""];
		return follows(first.offset, one, second.offset) ? { ...first, arguments_part: one + other } : null;
	}
	if (first.type === "tool.progress" && second.type === "tool.progress") {
		const isOne = first.toolCallId === second.toolCallId && first.stream === second.stream;
		return isOne && follows(first.offset, first.text, second.offset)
			? { ...first, text: first.text + second.text }
			: null;
	}
	return null;
}

/** Whether a text continues the previous one; false without offsets. */
function follows(offset: number | undefined, text: string, next: number | undefined): boolean {
	return offset !== undefined && next === offset + text.length;
}
