// The order of writing, syncing and delivering in a life that was not stopped: what is delivered was appended to the journal
// before, and at commit points the journal was synced in between.

import type { AgentEvent } from "../../../src/api/values/event.ts";
import { isRecord } from "../../../src/base/json.ts";
import { wholeText } from "../../../src/base/text/long-text.ts";
import { toEventLine } from "../../../src/ports/store/disk/logs/event-log.ts";
import { eventsOf, type Journal, readJournal } from "../frame/journal-file.ts";
import type { Happening } from "../frame/memory-life.ts";
import { parseDelivered } from "./crash-client.ts";
import { sessionId } from "./crash-server.ts";

/** Whether the event itself is on stable storage before it is delivered, that it was accepted, or what the context had before it. */
const commits: Readonly<Record<string, "event" | "acceptance" | "context">> = {
	TurnBegin: "event",
	StepBegin: "context",
	step_begin: "context",
	SteerInput: "acceptance",
	ApprovalResponse: "event",
	TurnEnd: "event",
};
/** An approval is in the journal and not in the log that Kimi reads. */
function isResolution({ body }: AgentEvent, interactionId: unknown): boolean {
	return body.type === "interaction.resolved" && body.interactionId === interactionId;
}

const persistedTypes: ReadonlySet<string> = new Set([
	"TurnBegin",
	"TurnEnd",
	"StepBegin",
	"StepRetry",
	"StepInterrupted",
	"StatusUpdate",
	"ToolResult",
	"SteerInput",
	"ToolCallRequest",
	"ApprovalResponse",
]);

/** Faults of the recording, as texts. */
export function checkOrder(happenings: readonly Happening[], sessions: number): string[] {
	return Array.from({ length: sessions }, (_, index) => checkSession(happenings, sessionId(index), index)).flat();
}

/** What was appended to a session's journal by now, and the part of it that is on stable storage. */
interface Appended {
	/** The journal as it was found, and what was appended since. */
	text: string;
	synced: string;
	/** What had been appended when each sync began, by the number of its effect. */
	readonly syncing: Map<number, string>;
}

function checkSession(happenings: readonly Happening[], id: string, part: number): string[] {
	const faults: string[] = [];
	const appended: Appended = { text: "", synced: "", syncing: new Map() };
	/** The records that were delivered already: each is delivered once. */
	const taken = new Set<number>();
	for (const happening of happenings) {
		switch (happening.kind) {
			case "effect":
			case "synced":
				follow(appended, happening, id);
				break;
			case "ran": {
				if (happening.sessionId !== id) break;
				const started = JSON.stringify(JSON.stringify(happening.command)).slice(1, -1);
				const isStarted = (text: string): boolean =>
					text.split("\n").some((line) => line.includes('"tool.started"') && line.includes(started));
				if (!isStarted(appended.text)) faults.push(`ran before its start was recorded: ${happening.command}`);
				else if (!isStarted(appended.synced)) faults.push(`ran before its start was synced: ${happening.command}`);
				break;
			}
			case "delivered":
				if (happening.part === part) faults.push(...checkDelivery(happening.line, appended, taken));
				break;
			case "struck":
		}
	}
	return faults;
}

function follow(appended: Appended, happening: Extract<Happening, { kind: "effect" | "synced" }>, id: string): void {
	const { effect } = happening;
	if (!effect.path.includes(id) || !effect.path.endsWith("/journal.jsonl")) return;
	if (happening.kind === "synced") appended.synced = appended.syncing.get(effect.n) ?? appended.synced;
	else if (effect.kind === "append") appended.text += happening.text;
	else if (effect.kind === "sync") appended.syncing.set(effect.n, appended.text);
}

const journalOf = (text: string): Journal =>
	readJournal(Buffer.from(text.startsWith('{"journal"') ? text : `\n${text}`));

function checkDelivery(line: string, appended: Appended, taken: Set<number>): string[] {
	const { params } = parseDelivered(line);
	if (params === null) return [];
	const { type, payload } = params;
	const faults: string[] = [];
	const records = journalOf(appended.text);
	const written = eventsOf(records).map((event) => {
		const text = toEventLine(event);
		const value: unknown = text === null ? null : JSON.parse(wholeText(text));
		return { event, message: isRecord(value) ? value["message"] : null };
	});
	const found = written.find(
		({ event, message }) =>
			(type === "ApprovalResponse" && isResolution(event, payload["request_id"])) ||
			(isRecord(message) &&
				message["type"] === type &&
				JSON.stringify(message["payload"]) === JSON.stringify(payload) &&
				!taken.has(event.seq ?? 0)),
	);
	if (found !== undefined) taken.add(found.event.seq ?? 0);
	if (persistedTypes.has(type) && found === undefined) faults.push(`delivered before it was appended: ${line}`);
	const synced = journalOf(appended.synced);
	switch (commits[type]) {
		case "event": {
			const isSynced = eventsOf(synced).some(({ seq }) => seq !== undefined && seq === found?.event.seq);
			if (found !== undefined && !isSynced) faults.push(`${type} delivered before it was synced`);
			break;
		}
		case "acceptance": {
			const input = JSON.stringify(payload["user_input"]);
			const isAccepted = eventsOf(synced).some(
				({ body }) => body.type === "steer.accepted" && JSON.stringify(body.input) === input,
			);
			if (!isAccepted) faults.push(`${type} delivered before its acceptance was synced`);
			break;
		}
		case "context": {
			const changes = ({ records: all }: Journal): number => all.filter(({ kind }) => kind === "context").length;
			if (changes(synced) < changes(records)) faults.push(`${type} delivered before the context was synced`);
			break;
		}
		case undefined:
	}
	return faults;
}
