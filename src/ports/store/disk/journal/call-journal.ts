// Reads `calls.jsonl`, written before the session journal: intents and decisions of tool calls, and usage of sessions with budgets.
import * as v from "valibot";
import type { Log } from "../../../../base/log.ts";
import { createPace } from "../../../../base/pace.ts";
import type { FileReader } from "../../../files/port.ts";
import type { JournalSummary, SessionUse, UnfinishedCall } from "../../session-store.ts";
import { parseRawLine, readRawLines } from "./journal-file.ts";

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

type CallRecord = v.InferOutput<typeof recordSchema>;

/** Ids may repeat in later steps: `finished` settles the oldest open call with its id. */
function noteCall(open: UnfinishedCall[], record: CallRecord): void {
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

function noteUse(before: SessionUse, record: CallRecord): SessionUse {
	if (record.type !== "used") return before;
	const { type: _, ...use } = record;
	return use;
}

export async function withCalls(
	before: JournalSummary,
	{ files, log, path, start, end }: CallLog,
): Promise<JournalSummary> {
	const unfinishedCalls = [...before.unfinishedCalls];
	let used = before.used;
	let skipped = 0;
	const pace = createPace();
	for await (const line of readRawLines(files, path, { start, end })) {
		const rest = pace.rest();
		if (rest !== undefined) await rest;
		const value = parseRawLine(line);
		const parsed = value === null ? null : v.safeParse(recordSchema, value);
		if (parsed?.success === true) {
			noteCall(unfinishedCalls, parsed.output);
			used = noteUse(used, parsed.output);
		} else skipped += 1;
	}
	if (skipped > 0) log.warn("lines of the call journal could not be read", { path, skipped });
	return { ...before, unfinishedCalls, used };
}

export interface CallLog {
	readonly files: FileReader;
	readonly log: Log;
	readonly path: string;
	readonly start: number;
	readonly end: number;
}
