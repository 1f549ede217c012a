import { inputText, toParts, type UserInput } from "../../api/values/content.ts";
import type { ContextRow, HistoryEntry } from "../../api/values/conversation.ts";
import type { AgentEvent } from "../../api/values/event.ts";
import { eachOf } from "../../base/collections.ts";
import { KernelError } from "../../base/errors.ts";

export interface TurnPlace {
	readonly id: string;
	readonly at: number;
	readonly input: UserInput;
	/** Whether its input became a message unchanged. */
	readonly entersContext: boolean;
	hasFiles: boolean;
}

/** Turns in the conversation, oldest first, without rewound ones. */
export async function readTurns(events: AsyncIterable<readonly AgentEvent[]>): Promise<readonly TurnPlace[]> {
	let turns: TurnPlace[] = [];
	for await (const { body, turnId, agentPath, at } of eachOf(events)) {
		if (agentPath.length > 0 || turnId === null) {
			if (body.type === "session.rewound") turns = before(turns, body.before);
			continue;
		}
		if (body.type === "turn.started" && turns.at(-1)?.id !== turnId) {
			const entersContext = body.enters_context === true;
			turns.push({ id: turnId, at, input: body.input, entersContext, hasFiles: false });
		} else if (body.type === "session.rewound") turns = before(turns, body.before);
		else if (body.type === "files.snapshot") {
			const turn = turns.find(({ id }) => id === turnId);
			if (turn !== undefined) turn.hasFiles = true;
		}
	}
	return turns;
}

/** Characters shown of an input. */
const excerpt = 60;

export function turnLines(turns: readonly TurnPlace[]): readonly string[] {
	return turns.map(({ input, hasFiles }, index) => {
		const text = inputText(input).replaceAll(/\s+/g, " ").slice(0, excerpt);
		return `${index + 1}. ${text}${hasFiles ? " (changed files)" : ""}`;
	});
}

function before(turns: readonly TurnPlace[], id: string): TurnPlace[] {
	const place = turns.findIndex((turn) => turn.id === id);
	return place === -1 ? [...turns] : turns.slice(0, place);
}

function textOf(content: HistoryEntry["content"]): string {
	return content.map((part) => (part.type === "text" ? part.text : part.type)).join("\n");
}

/** Matches turn inputs from the end, because compaction may have removed the beginning (`invalid-input` then). */
export function rowsBefore(
	rows: readonly ContextRow[],
	turns: readonly TurnPlace[],
	id: string,
): readonly ContextRow[] {
	let end = rows.length;
	for (const turn of turns.toReversed()) {
		const text = textOf(toParts(turn.input));
		const found = rows.findLastIndex(
			(row, index) =>
				index < end && row.type === "message" && row.message.role === "user" && textOf(row.message.content) === text,
		);
		if (found !== -1) end = found;
		else if (turn.entersContext) {
			throw new KernelError(
				"invalid-input",
				"The conversation before that turn was compacted, so it cannot be gone back to. Its files can be restored alone.",
			);
		}
		if (turn.id === id) break;
	}
	while (rows[end - 1]?.type === "checkpoint") end -= 1;
	return rows.slice(0, end).filter((row) => row.type !== "system-prompt");
}
