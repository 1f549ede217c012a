// The course of a transcript: what was going on when each line was sent or delivered.
import { isRecord } from "../../../../src/base/json.ts";
import type { Era } from "../../../../src/frontends/meerkat/errors.ts";
import type { Transcript } from "../../../../src/testing/transcripts/format.ts";
import { linesOf } from "./search.ts";

/** What a server of one session is doing, as far as its client can deliver; `between` when that is open. */
export type State = "idle" | "turn" | "replay" | "between";

export interface SentLine {
	readonly kind: "sent";
	readonly method: string | null;
	/** Spelled as JSON; null for a notification. */
	readonly id: string | null;
	readonly state: State;
	readonly era: Era;
	/** What the server answered to the id, later on; null where it did not. */
	readonly answer: string | null;
	/** Whether the server said anything at all after it. */
	readonly isFollowed: boolean;
}

export interface DeliveredLine {
	readonly kind: "delivered";
	readonly text: string;
	readonly state: State;
	readonly era: Era;
}

/** The lines of client and server, in their order. */
export function courseOf(transcript: Transcript): readonly (SentLine | DeliveredLine)[] {
	const lines = linesOf(transcript);
	/** The ids of requests that are being carried out. */
	const turns = new Set<string>();
	let begun: string | null = null;
	let replay: string | null = null;
	let era: Era = "seed";
	const state = (): State => {
		if (replay !== null) return "replay";
		if (begun !== null) return "turn";
		return turns.size > 0 ? "between" : "idle";
	};
	return lines.flatMap((line, index): (SentLine | DeliveredLine)[] => {
		if (line.kind === "process") {
			turns.clear();
			begun = replay = null;
			era = "seed";
		}
		if (line.kind === "send") {
			const { method, id } = headOf(line.text);
			const later = lines.slice(index + 1).flatMap((line) => (line.kind === "receive" ? [line.text] : []));
			const sent: SentLine = {
				kind: "sent",
				method,
				id,
				state: state(),
				era,
				answer: (id === null ? null : later.find((text) => answers(text, id))) ?? null,
				isFollowed: later.length > 0,
			};
			if (id !== null && (method === "prompt" || method === "run")) turns.add(id);
			if (id !== null && method === "replay") replay ??= id;
			return [sent];
		}
		if (line.kind !== "receive") return [];
		const { text } = line;
		const delivered: DeliveredLine = { kind: "delivered", text, state: state(), era };
		if (/"params":\{"type":"(TurnBegin|step_begin)"/.test(text) && replay === null) begun ??= [...turns][0] ?? null;
		for (const id of [...turns]) if (answers(text, id)) turns.delete(id);
		if (begun !== null && !turns.has(begun)) begun = null;
		if (replay !== null && answers(text, replay)) replay = null;
		if (text.includes('"result"') && text.includes('"contract_version"') && text.includes('"capabilities":'))
			era = "contract";
		return [delivered];
	});
}

function answers(text: string, id: string): boolean {
	return (
		text.startsWith(`{"jsonrpc":"2.0","id":${id},"result"`) || text.startsWith(`{"jsonrpc":"2.0","id":${id},"error"`)
	);
}

function headOf(text: string): { readonly method: string | null; readonly id: string | null } {
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch {
		return { method: null, id: null };
	}
	if (!isRecord(value)) return { method: null, id: null };
	const { method, id } = value;
	return {
		method: typeof method === "string" ? method : null,
		id: typeof id === "string" || typeof id === "number" ? JSON.stringify(id) : null,
	};
}
