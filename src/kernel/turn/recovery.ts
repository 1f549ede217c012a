// Recovers calls that a crash left started but unfinished: the model is informed that their outcome is unknown, the
// person once, and nothing is run again (docs/guarantees.md).
import { type Context, messageRow } from "../../agent/context.ts";
import { toToolMessage } from "../../agent/tool-results.ts";
import { toolError } from "../../events/content.ts";
import type { ContextRow, HistoryEntry } from "../../events/conversation.ts";
import type { StoredSession, UnfinishedCall } from "../../store/session-store.ts";

const outcomeUnknown = toolError(
	"The outcome of this call is unknown: the program ended while the call was running. It may have taken effect in part or in whole, or not at all. Look before you repeat it.",
	"Outcome unknown",
);

const resultLost = toolError(
	"The result of this call is lost: the program ended before it was stored. The call itself had ended.",
	"Result lost",
);

/** The report for the person, and what to record once they got it. */
export interface CrashNotice {
	readonly text: string;
	/** Marks the calls as finished, so that they are not reported again. */
	settle(): Promise<void>;
}

/**
 * Closes the unfinished calls in the context and returns the report for the person; null when there were none. After a
 * crash at any point before the notice is settled, the next opening does the rest.
 */
export async function recoverCalls(stored: StoredSession, context: Context): Promise<CrashNotice | null> {
	await closeLostCalls(context);
	const calls = stored.unfinishedCalls;
	if (calls.length === 0) return null;
	const unrecovered = calls.filter(({ isRecovered }) => !isRecovered);
	const open = unrecovered.filter((call) => !isClosed(call, context.messages));
	if (open.length > 0) await context.append(closingRows(open));
	await stored.appendCalls(unrecovered.map(({ toolCallId }) => ({ type: "recovered", toolCallId })));
	await stored.sync();
	const names = calls.map(({ name }) => `\`${name}\``).join(", ");
	const verb = calls.length === 1 ? "was" : "were";
	return {
		text: `The program ended unexpectedly while ${names} ${verb} running. What came of it is unknown; it has not been run again.\n\n`,
		settle: () => stored.appendCalls(calls.map(({ toolCallId }) => ({ type: "finished", toolCallId, isError: true }))),
	};
}

/** Answers the calls at the very end of a context that have no results: providers reject it otherwise. */
export async function closeLostCalls(context: Context): Promise<void> {
	const lost = callsWithoutResult(context.messages);
	if (lost.length > 0) await context.append(lost.map((id) => messageRow(toToolMessage(id, resultLost))));
}

/** Calls at the very end of the context whose results were lost with the end of a write. */
function callsWithoutResult(messages: readonly HistoryEntry[]): string[] {
	const last = messages.findLastIndex(({ role }) => role !== "tool");
	const missing = (messages[last]?.toolCalls ?? []).map(({ id }) => id);
	for (const { toolCallId } of messages.slice(last + 1)) {
		const index = missing.indexOf(toolCallId ?? "");
		if (index !== -1) missing.splice(index, 1);
	}
	return missing;
}

/** An assistant message with the calls, each answered: a history that every provider accepts. */
function closingRows(calls: readonly UnfinishedCall[]): ContextRow[] {
	const assistant: HistoryEntry = {
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
	return [assistant, ...answers].map(messageRow);
}

/** Whether the end of the context already answers the call with the unknown outcome. */
function isClosed({ toolCallId }: UnfinishedCall, messages: readonly HistoryEntry[]): boolean {
	const answer = JSON.stringify(toToolMessage(toolCallId, outcomeUnknown).content);
	const lastTools = messages.slice(messages.findLastIndex(({ role }) => role !== "tool") + 1);
	return lastTools.some((message) => message.toolCallId === toolCallId && JSON.stringify(message.content) === answer);
}
