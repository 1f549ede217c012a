// Media that only the provider can judge would fail every request; they are replaced with an explanation.

import { type ContentPart, isMedia, type MediaPart, readMedia, textPart } from "../../../api/values/content.ts";
import type { HistoryEntry } from "../../../api/values/conversation.ts";
import { beginning } from "../../../base/text/well-formed.ts";
import { changedChunks, withSecondAttempt } from "../chunk-streams.ts";
import type { Model, ModelChunk, ModelFailure } from "../model.ts";
import type { ModelSettings } from "../model-settings.ts";

/** Words that providers use in media errors. */
const names = /image|audio|video|media|download|fetch|\bur[il]s?\b/i;

/** Maximum characters of the provider's error. */
const longestReason = 300;

/** Retries without suspected media: those the error quotes, else new ones, else all. After a success, omits them at once. */
export function withoutRefusedMedia(
	stream: Model["stream"],
	isSent: (part: MediaPart) => boolean,
	{ log, model }: Pick<ModelSettings, "log" | "model">,
): Model["stream"] {
	const refused = new WeakMap<ContentPart, string>();
	const accepted = new WeakSet<ContentPart>();
	return (request, signal) => {
		const media = request.messages.flatMap(({ content }) => content.filter(isMedia));
		if (media.length === 0) return stream(request, signal);

		const attempt = (suspected: ReadonlyMap<ContentPart, string>): AsyncIterable<ModelChunk, void> => {
			const reasonOf = (part: ContentPart) => refused.get(part) ?? suspected.get(part) ?? null;
			const messages = request.messages.map((message) => withReasons(message, reasonOf));
			const sent = media.filter((part) => reasonOf(part) === null);
			let isAnswered = false;
			const answer = changedChunks(stream({ ...request, messages }, signal), (chunk) => {
				if (isAnswered || chunk.type === "failed") return chunk;
				isAnswered = true;
				for (const part of sent) accepted.add(part);
				for (const [part, reason] of suspected) refused.set(part, reason);
				for (const reason of new Set(suspected.values())) {
					log.warn("The provider refused media: requests leave them out.", { model, reason });
				}
				return chunk;
			});
			return withSecondAttempt(answer, (failure) => {
				const suspects = isRefusal(failure) ? suspectsAmong(sent.filter(isSent), failure.message, accepted) : [];
				if (suspects.length === 0) return null;
				const reason = beginning(failure.message, longestReason);
				return attempt(new Map([...suspected, ...suspects.map((part) => [part, reason] as const)]));
			});
		};
		return attempt(new Map());
	};
}

/** Stream errors may have no status. */
function isRefusal({ kind, statusCode, message }: ModelFailure): boolean {
	const isBadRequest = statusCode === 400 || statusCode === 422 || (statusCode === null && kind === "provider");
	return isBadRequest && names.test(message);
}

function suspectsAmong(
	media: readonly MediaPart[],
	message: string,
	accepted: WeakSet<ContentPart>,
): readonly MediaPart[] {
	const quoted = media.filter((part) => message.includes(readMedia(part).url));
	if (quoted.length > 0) return quoted;
	const isNew = media.filter((part) => !accepted.has(part));
	return isNew.length > 0 ? isNew : media;
}

function withReasons(message: HistoryEntry, reasonOf: (part: ContentPart) => string | null): HistoryEntry {
	const { content } = message;
	if (content.every((part) => reasonOf(part) === null)) return message;
	return {
		...message,
		content: content.map((part) => {
			const reason = reasonOf(part);
			return reason === null || !isMedia(part)
				? part
				: textPart(`[${readMedia(part).kind} left out: the provider refused it: ${reason}]`);
		}),
	};
}
