// What a crash left behind: calls that were started and never finished. The model is told that their outcome is
// unknown, the person is told once, and nothing is run again (docs/guarantees.md).
import type { Context } from "../agent/context.ts";
import { toToolMessage } from "../agent/tool-results.ts";
import { toolError } from "../events/content.ts";
import type { ContextRow, ConversationMessage } from "../events/conversation.ts";
import type { StoredSession, UnfinishedCall } from "../store/session-store.ts";

const outcomeUnknown = toolError(
	"The outcome of this call is unknown: the program ended while the call was running. It may have taken effect in part or in whole, or not at all. Look before you repeat it.",
	"Outcome unknown",
);

/**
 * Closes the unfinished calls in the context and then in the journal, and returns the text for the person; null when
 * there were none. A second crash in between finds the context already closed and does not close it again.
 */
export async function recoverCalls(stored: StoredSession, context: Context): Promise<string | null> {
	const calls = stored.unfinishedCalls;
	if (calls.length === 0) return null;
	const open = calls.filter((call) => !isClosed(call, context.messages));
	if (open.length > 0) await context.append(closingRows(open));
	await stored.appendCalls(calls.map(({ toolCallId }) => ({ type: "finished", toolCallId, isError: true })));
	await stored.sync();
	const names = calls.map(({ name }) => `\`${name}\``).join(", ");
	const verb = calls.length === 1 ? "was" : "were";
	return `The program ended unexpectedly while ${names} ${verb} running. What came of it is unknown; it has not been run again.\n\n`;
}

/** An assistant message with the calls, each answered: a history that every provider takes. */
function closingRows(calls: readonly UnfinishedCall[]): ContextRow[] {
	const assistant: ConversationMessage = {
		role: "assistant",
		content: [],
		toolCalls: calls.map(({ toolCallId, name, arguments: text }) => ({
			type: "function",
			id: toolCallId,
			function: { name, arguments: text },
			extras: null,
		})),
	};
	const answers = calls.map(({ toolCallId }) => toToolMessage(toolCallId, outcomeUnknown));
	return [assistant, ...answers].map((message) => ({ type: "message", message }));
}

/** Whether the end of the context already answers the call with the unknown outcome. */
function isClosed({ toolCallId }: UnfinishedCall, messages: readonly ConversationMessage[]): boolean {
	const answer = JSON.stringify(toToolMessage(toolCallId, outcomeUnknown).content);
	const lastTools = messages.slice(messages.findLastIndex(({ role }) => role === "assistant"));
	return lastTools.some(
		(message) =>
			message.role === "tool" && message.toolCallId === toolCallId && JSON.stringify(message.content) === answer,
	);
}
