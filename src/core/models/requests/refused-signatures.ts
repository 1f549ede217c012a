// Signatures that the provider refuses would fail every request; without them only earlier reasoning is lost.
import type { HistoryEntry } from "../../../api/values/conversation.ts";
import { withSecondAttempt } from "../chunk-streams.ts";
import type { Model, ModelFailure } from "../model.ts";

/** Words that providers use in these errors. */
const names = /signature|encrypted[ _]content|redacted_thinking|`thinking`/i;

/** Retries a refused request once without the signatures of its messages; later requests omit them at once. */
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

/** Stream errors may have no status. */
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
