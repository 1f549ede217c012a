// The call journal of a session, `calls.jsonl`: intents and decisions of tool calls, kept to survive a crash.
// The file is ours alone; a session without such calls has none.
import * as v from "valibot";
import { toJsonLine } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import type { Files } from "../files/port.ts";
import { readLines } from "./line-file.ts";
import type { CallRecord, UnfinishedCall } from "./session-store.ts";

const recordSchema = v.variant("type", [
	v.object({ type: v.literal("asked"), askId: v.string(), toolCallId: v.string(), action: v.string() }),
	v.object({
		type: v.literal("decided"),
		askId: v.nullable(v.string()),
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
]);

/** The line of a record; `at` is its time in milliseconds since the epoch. */
export function toCallLine(record: CallRecord, at: number): string {
	return toJsonLine({ at, ...record });
}

/**
 * Notes a record in the list of calls that were started and not finished. Ids may come again in later steps, so a
 * `finished` settles the oldest open call of its id.
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

/** The calls a journal leaves open. Lines that are no records are skipped, counted and logged. */
export async function readUnfinished(files: Files, path: string, log: Log): Promise<UnfinishedCall[]> {
	const open: UnfinishedCall[] = [];
	let skipped = 0;
	for await (const line of readLines(files, path)) {
		const parsed = v.safeParse(recordSchema, line);
		if (parsed.success) noteCall(open, parsed.output);
		else skipped += 1;
	}
	if (skipped > 0) log.warn("lines of the call journal could not be read", { path, skipped });
	return open;
}
