import type { ContentPart } from "../api/values/content.ts";
import { inputText } from "../api/values/content.ts";
import type { EventBodyOf } from "../api/values/event.ts";
import { parseSlashCommand } from "../api/values/slash-command.ts";
import type { Score } from "./score.ts";

export function questionAt({ events }: Score, index: number): EventBodyOf<"side-question.started"> | null {
	const event = events[index];
	if (event?.body.type !== "side-question.started") return null;
	const last = events
		.slice(0, index)
		.findLast(({ body }) => body.type === "turn.started" || body.type === "turn.ended")?.body;
	const command = last?.type === "turn.started" ? parseSlashCommand(inputText(last.input)) : null;
	return command?.name === "btw" && command.argument === event.body.question ? null : event.body;
}

/** The recorded end of the side question that this request asks; null for other requests. */
export function answerTo(
	score: Score,
	last: readonly ContentPart[] | undefined,
): EventBodyOf<"side-question.ended"> | null {
	const text = (last ?? []).map((part) => (part.type === "text" ? part.text : "")).join("");
	for (const [index, { body }] of score.events.entries()) {
		if (body.type !== "side-question.started" || !text.endsWith(`\n\n${body.question}`)) continue;
		if (questionAt(score, index) === null) continue;
		const end = score.events.findIndex(
			({ body: other }) => other.type === "side-question.ended" && other.id === body.id,
		);
		const ended = score.body(end);
		if (ended?.type === "side-question.ended" && score.isMatched(index) && !score.isMatched(end)) return ended;
	}
	return null;
}
