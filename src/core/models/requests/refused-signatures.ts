// Signatures and encrypted reasoning that the provider refuses: of another organization, of a model that it replaced, or damaged.
// Without them the model lacks its earlier reasoning; with them every request of the session fails.
import type { HistoryEntry } from "../../../api/values/conversation.ts";
import { withSecondAttempt } from "../chunk-streams.ts";
import type { Model, ModelFailure } from "../model.ts";

/** How providers name them in their errors. */
const names = /signature|encrypted[ _]content|redacted_thinking|`thinking`/i;

/**
 * The same stream. A request that is refused because of them is sent once more without those of its messages, which
 * later requests leave out at once.
 */
export function withoutRefusedSignatures(stream: Model["stream"]): Model["stream"] {
	const refused = new WeakSet<HistoryEntry>();
	return (request, signal) => {
		const send = () =>
			stream(
				{ ...request, messages: request.messages.map((each) => (refused.has(each) ? unsigned(each) : each)) },
				signal,
			);
		return withSecondAttempt(send(), (failure) => {
			if (!isRefusal(failure)) return null;
			const signed = request.messages.filter((message) => !refused.has(message) && isSigned(message));
			for (const message of signed) refused.add(message);
			return signed.length === 0 ? null : send();
		});
	};
}

/** Errors in a stream may have no status. */
function isRefusal({ kind, statusCode, message }: ModelFailure): boolean {
	const isBadRequest = statusCode === 400 || (statusCode === null && kind === "provider");
	return isBadRequest && names.test(message);
}

function isSigned({ content, toolCalls = [] }: HistoryEntry): boolean {
	return (
		content.some((part) => part.type === "think" && part.encrypted !== null) ||
		toolCalls.some(({ extras }) => extras !== null)
	);
}

function unsigned(message: HistoryEntry): HistoryEntry {
	const { content, toolCalls } = message;
	return {
		...message,
		content: content.map((part) => (part.type === "think" ? { ...part, encrypted: null } : part)),
		...(toolCalls === undefined ? {} : { toolCalls: toolCalls.map((call) => ({ ...call, extras: null })) }),
	};
}
