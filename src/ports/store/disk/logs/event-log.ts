// The event log of a session, `wire.jsonl`: events as timed records of Kimi messages (wire-protocol §8.2).

import type { AgentEvent } from "../../../../api/values/event.ts";
import type { Log } from "../../../../base/log.ts";
import { type LineText, toLineText } from "../../../../base/text/long-text.ts";
import { type EventRecord, fromRecord, toRecord } from "../../../../formats/record.ts";
import type { FileReader } from "../../../files/port.ts";
import { type LinesRead, parseLine, readLineBatches, readLines } from "./json-lines.ts";

/** A logged event with its time in milliseconds since the epoch. */
export interface TimedRecord extends EventRecord {
	readonly at: number;
}

export type LogLine =
	| { readonly kind: "header" }
	| { readonly kind: "record"; readonly record: TimedRecord }
	| { readonly kind: "unreadable" };

export function toHeader(protocolVersion: string): string {
	return `{"type": "metadata", "protocol_version": ${JSON.stringify(protocolVersion)}}`;
}

/** The log line of an event; null if it is not logged. Log timestamps are in seconds. */
export function toEventLine(event: AgentEvent): LineText | null {
	const message = toRecord(event);
	return message === null ? null : toLineText({ timestamp: event.at / 1000, message });
}

export function toEventLines(events: readonly AgentEvent[]): LineText[] {
	return events.map(toEventLine).filter((line) => line !== null);
}

export function readLogLine(line: Record<string, unknown> | null): LogLine {
	if (line?.["type"] === "metadata") return { kind: "header" };
	const timestamp = line?.["timestamp"];
	if (line === null || typeof timestamp !== "number") return { kind: "unreadable" };
	const record = fromRecord(line["message"]);
	if (record === null) return { kind: "unreadable" };
	const { agentPath, body } = record;
	// Fractional seconds do not multiply back exactly, so round to a thousandth of a millisecond.
	const at = Math.round(timestamp * 1_000_000) / 1000;
	return { kind: "record", record: { agentPath, body, at } };
}

export async function* readEventLines(files: FileReader, path: string, which?: LinesRead): AsyncGenerator<LogLine> {
	for await (const line of readLines(files, path, which)) yield readLogLine(line);
}

/** The numbered events, a piece of the file at a time. Invalid lines are skipped and logged; numbers stay taken. */
export async function* readEventBatches(
	source: { readonly files: FileReader; readonly path: string; readonly length: number; readonly log: Log },
	origin: { readonly sessionId: string; readonly epoch: string },
): AsyncGenerator<readonly NumberedEvent[]> {
	let count = 0;
	let skipped = 0;
	for await (const lines of readLineBatches(source.files, source.path, { length: source.length })) {
		const events: NumberedEvent[] = [];
		for (const parsed of lines) {
			const line = readLogLine(parsed);
			if (line.kind === "header" && count === 0) continue;
			count += 1;
			if (line.kind === "record") events.push(toNumberedEvent(line.record, count, origin));
			else skipped += 1;
		}
		yield events;
	}
	if (skipped > 0) source.log.warn("lines of the event log could not be read", { path: source.path, skipped });
}

export type NumberedEvent = AgentEvent & { readonly seq: number };

function toNumberedEvent(
	{ agentPath, at, body }: TimedRecord,
	seq: number,
	{ sessionId, epoch }: { readonly sessionId: string; readonly epoch: string },
): NumberedEvent {
	return { sessionId, turnId: null, agentPath, at, seq, epoch, body, isFromLog: true };
}

export function toEvent(record: TimedRecord, sessionId: string): AgentEvent {
	const { agentPath, at, body } = record;
	return { sessionId, turnId: null, agentPath, at, body, isFromLog: true };
}

/** Maximum length of a blank line in bytes. */
const blankLength = 16;

/** Searches each piece as one text: opening waits for this, and reading line by line takes many times as long. */
export async function countEvents(files: FileReader, path: string, length: number): Promise<number> {
	let count = 0;
	let left = length;
	let hasContent = false;
	/** The start of the first line, until it is complete. */
	let first = "";
	let headers = 0;
	const look = (text: string, start: number, end: number): void => {
		hasContent ||= end - start > blankLength || text.slice(start, end).trim() !== "";
		if (count === 0 && first.length < headerLimit) first += text.slice(start, Math.min(end, start + headerLimit));
	};
	const endLine = (): void => {
		if (hasContent) {
			if (count === 0 && isHeader(first)) headers = 1;
			count += 1;
		}
		first = "";
		hasContent = false;
	};
	for await (const piece of files.readPieces(path)) {
		const text = piece.toString("latin1", 0, Math.min(left, piece.length));
		left -= piece.length;
		let start = 0;
		for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
			if (count > 0 && end - start > blankLength && !hasContent) count += 1;
			else {
				look(text, start, end);
				endLine();
			}
			start = end + 1;
		}
		look(text, start, text.length);
		if (left <= 0) break;
	}
	endLine();
	return count - headers;
}

/** Bytes searched for the first line: a header is short. */
const headerLimit = 4096;

function isHeader(text: string): boolean {
	return readLogLine(parseLine(text)).kind === "header";
}
