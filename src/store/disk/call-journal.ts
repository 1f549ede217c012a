// The call journal of a session, `calls.jsonl`: intents and decisions of tool calls, and the consumption of a session
// with budgets, stored to survive a crash. The file is our own; a session without any of these has none.
import * as v from "valibot";
import { toJsonLine } from "../../base/json.ts";
import type { Log } from "../../base/log.ts";
import type { Files } from "../../files/port.ts";
import { type CallRecord, nothingUsed, type SessionUse, type UnfinishedCall } from "../session-store.ts";
import { readLines } from "./line-file.ts";

const amount = v.pipe(v.number(), v.minValue(0));

const recordSchema = v.variant("type", [
	v.object({ type: v.literal("asked"), interactionId: v.string(), toolCallId: v.string(), action: v.string() }),
	v.object({
		type: v.literal("decided"),
		interactionId: v.nullable(v.string()),
		toolCallId: v.string(),
		action: v.string(),
		decision: v.picklist(["approve", "approve_for_session", "reject"]),
		by: v.picklist(["person", "rule", "session-approval", "yolo"]),
	}),
	v.object({
		type: v.literal("started"),
		toolCallId: v.string(),
		name: v.string(),
		arguments: v.nullable(v.string()),
	}),
	v.object({ type: v.literal("recovered"), toolCallId: v.string() }),
	v.object({ type: v.literal("finished"), toolCallId: v.string(), isError: v.boolean() }),
	v.object({ type: v.literal("used"), tokens: amount, milliseconds: amount, toolCalls: amount }),
]);

/** The line of a record; `at` is its time in milliseconds since the epoch. */
export function toCallLine(record: CallRecord, at: number): string {
	return toJsonLine({ at, ...record });
}

/**
 * Updates the list of unfinished calls with a record. Ids may repeat in later steps, so a `finished` settles the oldest
 * open call of its id.
 */
export function noteCall(open: UnfinishedCall[], record: CallRecord): void {
	if (record.type === "started") {
		const { toolCallId, name, arguments: text } = record;
		open.push({ toolCallId, name, arguments: text, isRecovered: false });
	}
	if (record.type === "recovered") {
		const index = open.findIndex((call) => call.toolCallId === record.toolCallId && !call.isRecovered);
		const call = open[index];
		if (call !== undefined) open[index] = { ...call, isRecovered: true };
	}
	if (record.type === "finished") {
		const index = open.findIndex((call) => call.toolCallId === record.toolCallId);
		if (index !== -1) open.splice(index, 1);
	}
}

/** The use in the record; `before` when the record has none. */
export function noteUse(before: SessionUse, record: CallRecord): SessionUse {
	if (record.type !== "used") return before;
	const { type: _, ...use } = record;
	return use;
}

/** The content of a journal. */
export interface JournalSummary {
	/** The unfinished calls. */
	readonly open: readonly UnfinishedCall[];
	readonly used: SessionUse;
}

/** Reads a journal. Invalid lines are skipped, counted and logged. */
export async function readJournal(files: Files, path: string, log: Log): Promise<JournalSummary> {
	const open: UnfinishedCall[] = [];
	let used = nothingUsed;
	let skipped = 0;
	for await (const line of readLines(files, path)) {
		const parsed = v.safeParse(recordSchema, line);
		if (parsed.success) {
			noteCall(open, parsed.output);
			used = noteUse(used, parsed.output);
		} else skipped += 1;
	}
	if (skipped > 0) log.warn("lines of the call journal could not be read", { path, skipped });
	return { open, used };
}
