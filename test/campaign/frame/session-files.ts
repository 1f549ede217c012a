// The files of a session, and what must hold of them when it is opened again after a stop (docs/explanation/guarantees.md), whatever
// dialect spoke to it: nothing runs unasked or twice, a provider accepts the context, and every line can be read.
import { isRecord } from "../../../src/base/json.ts";
import { wholeText } from "../../../src/base/text/long-text.ts";
import { fromLine, toLine } from "../../../src/ports/store/context-row.ts";
import { toEventLines } from "../../../src/ports/store/disk/logs/event-log.ts";
import { contextOf, eventsOf, everyContextOf, openCalls, readJournal } from "./journal-file.ts";

/** A message as the event log has it. */
export interface Message {
	readonly type: string;
	readonly payload: Readonly<Record<string, unknown>>;
}

/** The logs of a session directory as bytes; empty for what is not there. */
export interface SessionFiles {
	readonly events: Buffer;
	readonly context: Buffer;
	/** The contexts that were replaced by another one, oldest first. */
	readonly rotations: readonly Buffer[];
	readonly journal: Buffer;
	readonly state: Buffer;
	/** The logs of each subagent. */
	readonly agents: readonly { readonly id: string; readonly context: Buffer; readonly events: Buffer }[];
}

/** Gathers them; `read` gives the bytes of a file by its name in the session directory, none for one that is not there. */
export async function readSessionFiles(
	agentIds: readonly string[],
	read: (name: string) => Promise<Buffer>,
): Promise<SessionFiles> {
	return {
		events: await read("wire.jsonl"),
		context: await read("context.jsonl"),
		rotations: await readRotations(read),
		journal: await read("journal.jsonl"),
		state: await read("state.json"),
		agents: await Promise.all(
			agentIds.map(async (id) => ({
				id,
				context: await read(`subagents/${id}/context.jsonl`),
				events: await read(`subagents/${id}/wire.jsonl`),
			})),
		),
	};
}

async function readRotations(read: (name: string) => Promise<Buffer>): Promise<Buffer[]> {
	const found: Buffer[] = [];
	for (let count = 1; ; count += 1) {
		const bytes = await read(`context_${count}.jsonl`);
		if (bytes.length === 0) return found;
		found.push(bytes);
	}
}

interface Lines {
	readonly values: readonly Record<string, unknown>[];
	readonly unreadable: number;
}

/** The lines of a file; a last one without its newline does not count as unreadable. */
export function readJsonLines(bytes: Buffer): Lines {
	const lines = bytes.toString("utf8").split("\n");
	const rest = lines.pop() ?? "";
	const values: Record<string, unknown>[] = [];
	let unreadable = 0;
	for (const line of rest === "" ? lines : [...lines, rest]) {
		try {
			const value: unknown = JSON.parse(line);
			if (isRecord(value)) values.push(value);
		} catch {
			if (line !== rest) unreadable += 1;
		}
	}
	return { values, unreadable };
}

/**
 * All lines readable and ended, and what was there before still there, but for a half-written end, and for the header of the
 * journal where the power was lost before.
 */
export function checkFiles(before: SessionFiles, after: SessionFiles, lostPower: boolean): string[] {
	return (["events", "context", "journal"] as const).flatMap((name) => {
		const faults: string[] = [];
		const { unreadable } = readJsonLines(after[name]);
		if (unreadable > 0) faults.push(`${name}: ${unreadable} lines cannot be read`);
		if (after[name].length > 0 && after[name].at(-1) !== 10) faults.push(`${name}: the last line is not ended`);
		const end = name === "journal" ? readJournal(before.journal).end : before[name].lastIndexOf(10) + 1;
		const from = (bytes: Buffer) => (name === "journal" && lostPower ? bytes.subarray(bytes.indexOf(10) + 1) : bytes);
		const whole = from(before[name].subarray(0, end));
		const places = name === "context" ? [after.context, ...after.rotations] : [from(after[name])];
		const isThere = places.some((place) => place.subarray(0, whole.length).equals(whole));
		const isThereInOtherWords = {
			// Before what another program has written comes what the log lacked then.
			events: () => hasMessagesOf(whole, after.events),
			// What another program has written is written again with other blanks.
			context: () => places.some((place) => rowsOf(place).startsWith(rowsOf(whole))),
			journal: () => false,
		};
		if (!isThere && !isThereInOtherWords[name]()) faults.push(`${name}: what was there was changed`);
		return faults;
	});
}

/** The lines of a context log as this program writes them. */
function rowsOf(context: Buffer): string {
	const rows = readJsonLines(context).values.map((value) => fromLine(value));
	return rows.map((row) => (row === null ? "unknown\n" : `${wholeText(toLine(row))}\n`)).join("");
}

/** Whether all messages of a log are in the other one, in their order. */
function hasMessagesOf(log: Buffer, other: Buffer): boolean {
	const texts = messagesOf(other).map((message) => JSON.stringify(message));
	let from = 0;
	return messagesOf(log).every((message) => {
		from = texts.indexOf(JSON.stringify(message), from) + 1;
		return from > 0;
	});
}

/** All lines of the subagents' logs readable, and each context legal as far as it goes: its end is mended when resumed. */
export function checkAgents({ agents }: SessionFiles): string[] {
	return agents.flatMap(({ id, context, events }) => [
		...[context, events]
			.filter((bytes) => readJsonLines(bytes).unreadable > 0)
			.map(() => `subagent ${id}: lines cannot be read`),
		...checkContext(context)
			.filter((fault) => !fault.startsWith("context ends"))
			.map((fault) => `subagent ${id}: ${fault}`),
	]);
}

interface ContextMessage {
	readonly role: string;
	readonly calls: readonly string[];
	readonly answers: string | null;
	readonly text: string;
}

function toContextMessages(bytes: Buffer): ContextMessage[] {
	return readJsonLines(bytes).values.flatMap((row) => {
		const role = String(row["role"]);
		if (role.startsWith("_")) return [];
		const calls = Array.isArray(row["tool_calls"]) ? row["tool_calls"] : [];
		return [
			{
				role,
				calls: calls.map((call: unknown) => (isRecord(call) ? String(call["id"]) : "")),
				answers: typeof row["tool_call_id"] === "string" ? row["tool_call_id"] : null,
				text: JSON.stringify(row["content"] ?? null),
			},
		];
	});
}

/** Whether every call has exactly one result right after its message, and no result is without its call. */
export function checkContext(bytes: Buffer): string[] {
	const messages = toContextMessages(bytes);
	const faults: string[] = [];
	let open: string[] = [];
	for (const [index, message] of messages.entries()) {
		if (message.role === "tool") {
			const at = open.indexOf(message.answers ?? "");
			if (at === -1) faults.push(`context message ${index}: a result of no open call, ${message.answers}`);
			else open.splice(at, 1);
			continue;
		}
		if (open.length > 0) faults.push(`context message ${index}: after calls without result, ${open.join(", ")}`);
		open = [...message.calls];
		if (index === 0 && message.role !== "user" && message.calls.length === 0) {
			faults.push(`context begins with ${message.role}`);
		}
	}
	if (open.length > 0) faults.push(`context ends with calls without result, ${open.join(", ")}`);
	return faults;
}

const isUnknown = (text: string): boolean => text.includes("outcome of this call is unknown");

/** The context as the journal has it; as its own log has it in a session without a journal. */
function contextMessages({ journal, context }: Pick<SessionFiles, "journal" | "context">): ContextMessage[] {
	const read = readJournal(journal);
	return toContextMessages(read.records.length === 0 ? context : contextOf(read));
}

/** How many unfinished calls the context does not close yet. */
export function countUnclosed(files: Pick<SessionFiles, "journal" | "context">): number {
	const messages = contextMessages(files);
	const tail = messages.slice(messages.findLastIndex(({ role }) => role !== "tool") + 1);
	// Closed by a recovery that was stopped before it could say so.
	const isClosed = tail.some(({ text }) => isUnknown(text));
	return isClosed ? 0 : openCalls(files.journal).filter(({ recovered }) => !recovered).length;
}

/** How often the context says that the outcome of a call is unknown. */
export function countUnknown(files: Pick<SessionFiles, "journal" | "context">): number {
	return contextMessages(files).filter(({ role, text }) => role === "tool" && isUnknown(text)).length;
}

/** Whether the context, with what it had before, has as many inputs of turns and results of calls as the client knows of. */
export function checkContextHas(
	{ inputs, results }: { readonly inputs: number; readonly results: number },
	{ journal, context }: Pick<SessionFiles, "journal" | "context">,
): string[] {
	const read = readJournal(journal);
	const messages = toContextMessages(read.records.length === 0 ? context : everyContextOf(read));
	const users = messages.filter(({ role }) => role === "user").length;
	const tools = messages.filter(({ role }) => role === "tool").length;
	const faults: string[] = [];
	if (users < inputs) faults.push(`${inputs} inputs were delivered, the context has ${users}`);
	if (tools < results) faults.push(`${results} results were delivered, the context has ${tools}`);
	return faults;
}

/** The messages that the log has or, when the session is opened the next time, gets from the journal. */
export function loggedMessages({ journal, events }: Pick<SessionFiles, "journal" | "events">): Message[] {
	const read = readJournal(journal);
	if (read.records.length === 0) return messagesOf(events);
	const lines = toEventLines(eventsOf(read)).map((line) => `${wholeText(line)}\n`);
	return [...messagesOf(events.subarray(0, read.history.wire)), ...messagesOf(Buffer.from(lines.join("")))];
}

/** The messages of an event log. */
export function messagesOf(events: Buffer): Message[] {
	return readJsonLines(events).values.flatMap(({ message }) => {
		if (!isRecord(message) || typeof message["type"] !== "string") return [];
		return [{ type: message["type"], payload: isRecord(message["payload"]) ? message["payload"] : {} }];
	});
}
