// Shortens texts to fit into a limit: the longest first, each in its middle.

import type { ContentPart } from "../../api/values/content.ts";
import type { HistoryEntry } from "../../api/values/conversation.ts";
import { toWellFormed } from "../../base/text/well-formed.ts";

/** Minimum characters of text; below, the rest would not be worth a request. */
export const shortestRoom = 1000;

/** Shortens the texts of these parts to at most `room` characters, not counting the truncation notes. */
export function shortenedParts(parts: readonly ContentPart[], room: number): readonly ContentPart[] {
	return cutParts(parts, longestWithin(parts.map(textLength), room));
}

export function withShortenedResults(messages: readonly HistoryEntry[], room: number): readonly HistoryEntry[] {
	const most = longestWithin(resultParts(messages).map(textLength), room);
	return messages.map((message) =>
		message.role === "tool" ? { ...message, content: cutParts(message.content, most) } : message,
	);
}

export function textSizeOf(parts: readonly ContentPart[]): number {
	return parts.reduce((size, part) => size + textLength(part), 0);
}

export function resultSizeOf(messages: readonly HistoryEntry[]): number {
	return textSizeOf(resultParts(messages));
}

const resultParts = (messages: readonly HistoryEntry[]) =>
	messages.flatMap(({ role, content }) => (role === "tool" ? content : []));

const textLength = (part: ContentPart) => (part.type === "text" ? part.text.length : 0);

/** The length to which the longest texts must be cut so that the total fits. */
function longestWithin(lengths: readonly number[], room: number): number {
	let left = room;
	const sorted = [...lengths].sort((a, b) => a - b);
	for (const [index, length] of sorted.entries()) {
		const share = Math.max(0, Math.floor(left / (sorted.length - index)));
		if (length > share) return share;
		left -= length;
	}
	return Number.POSITIVE_INFINITY;
}

function cutParts(parts: readonly ContentPart[], most: number): ContentPart[] {
	return parts.map((part) => (part.type === "text" ? { ...part, text: shortened(part.text, most) } : part));
}

/** Keeps more of the beginning than of the end. */
function shortened(text: string, most: number): string {
	if (text.length <= most) return text;
	const end = Math.floor(most / 3);
	const start = most - end;
	const note = `\n[${text.length - most} characters left out: there is no room for them]\n`;
	return `${toWellFormed(text.slice(0, start))}${note}${toWellFormed(text.slice(text.length - end))}`;
}
