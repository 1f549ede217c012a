// A session's content when opened, from the journal or else the logs, plus changes by other programs. Writes nothing.
import type { ContextRow } from "../../../../api/values/conversation.ts";
import type { AgentEvent } from "../../../../api/values/event.ts";
import { emptySummary, RunningSummary } from "../../journal-summary.ts";
import type { JournalSummary, SessionState } from "../../session-store.ts";
import { readContext } from "../logs/context-log.ts";
import { countEvents } from "../logs/event-log.ts";
import { type FoundSession, logBytes } from "../logs/found-session.ts";
import type { SessionPaths } from "../session-directory.ts";
import { withCalls } from "./call-journal.ts";
import { type JournalOpening, type JournalSource, newEpoch, openJournal, readJournalState } from "./journal-opening.ts";
import type { JournalHeader } from "./journal-record.ts";
import { type ContextRecovery, recoverContext, recoverWire, type WireRecovery } from "./log-recovery.ts";

export interface SessionHistory {
	readonly opening: JournalOpening;
	readonly header: JournalHeader;
	/** What must be rewritten: everything if earlier history is lost, only the header if just its end may be lost. */
	readonly rewritten: "nothing" | "header" | "all";
	/** The offset to add to journal file numbers until then. */
	readonly shift: number;
	readonly lastSeq: number;
	readonly summary: JournalSummary;
	readonly imported: readonly AgentEvent[];
	readonly wire: WireRecovery["repair"];
	readonly context: ContextRecovery;
	readonly contextRows: () => readonly ContextRow[];
	/** Whether a new journal must start with a copy or summary of existing content. */
	readonly hasContent: boolean;
	missingState(found: {
		readonly isMissing: boolean;
		readonly modifiedAt: number;
	}): Promise<Partial<SessionState> | null>;
}

/** Milliseconds a file must be newer than the journal to count as changed by another program. */
const tick = 1000;

/** `bootedAt` is the machine's boot time in milliseconds: data not synced before it may be lost. */
export async function openHistory(
	source: JournalSource,
	paths: SessionPaths,
	found: FoundSession,
	bootedAt: number,
): Promise<SessionHistory> {
	const { files, log } = source;
	const [opening, contextRows] = await Promise.all([
		openJournal(source),
		readContext(files, found.contextPath ?? paths.context, log),
	]);
	const calls = { files, log, path: paths.calls, end: found.callsSize };
	if (opening.kind !== "opened") {
		const events = found.eventsSize === 0 ? 0 : await countEvents(files, paths.events, found.eventsSize);
		return {
			opening,
			header: { epoch: newEpoch(), history: { wire: found.eventsSize, events } },
			rewritten: "nothing",
			shift: 0,
			lastSeq: events,
			summary: await withCalls(emptySummary, { ...calls, start: 0 }),
			imported: [],
			wire: { kind: "none" },
			context: { repair: { kind: "none" }, rows: null, isForeign: (found.contextSize ?? 0) > 0 },
			contextRows,
			hasContent: logBytes(found) > found.journalSize || found.hasState,
			missingState: async () => null,
		};
	}

	const journalTime = (await files.status(paths.journal))?.modifiedAt ?? 0;
	const contextPath = found.contextPath ?? paths.context;
	const contextStatus = await files.status(contextPath);
	const isNewer = (contextStatus?.modifiedAt ?? 0) > journalTime + tick;
	const [wire, context] = await Promise.all([
		recoverWire(source, opening, { path: paths.events, size: found.eventsSize }),
		recoverContext(source, opening, { path: contextPath, size: contextStatus?.size ?? null, isNewer }),
	]);
	const before = opening.header.history;
	const shift = wire.history.events - before.events;
	// Clients may have seen final events that are now lost, and whose numbers will be reused.
	const mayLackEnd = !opening.isClosed && journalTime < bootedAt;
	const epoch = shift === 0 && !mayLackEnd ? opening.header.epoch : newEpoch();
	const first = opening.lastSeq + shift + 1;
	const imported = wire.imported.map((event, index) => ({ ...event, seq: first + index, epoch }));
	const rows = context.rows;
	const isOther = shift !== 0 || wire.history.wire !== before.wire;
	const running = new RunningSummary(shifted(opening.summary, shift, epoch));
	for (const event of imported) running.addEvent(event);
	if (context.isForeign) running.addContext({ kind: "replace", rows: [] });
	return {
		opening,
		header: { epoch, history: wire.history },
		rewritten: isOther ? "all" : mayLackEnd ? "header" : "nothing",
		shift,
		lastSeq: opening.lastSeq + shift + imported.length,
		summary: await withCalls(running.current, { ...calls, start: opening.sizes.calls }),
		imported,
		wire: wire.repair,
		context,
		contextRows: rows === null ? contextRows : () => rows,
		hasContent: true,
		async missingState({ isMissing, modifiedAt }) {
			if (isMissing) return opening.hasState ? readJournalState(source, opening.range) : null;
			return modifiedAt < journalTime ? opening.state : null;
		},
	};
}

function shifted(summary: JournalSummary, shift: number, epoch: string): JournalSummary {
	const unretained = summary.unretained.map((event) => shiftedEvent(event, shift, epoch));
	return { ...summary, unretained };
}

/** Renumbers an event for a history that has lost or gained earlier events. */
export function shiftedEvent(event: AgentEvent, shift: number, epoch: string): AgentEvent {
	return { ...event, epoch, ...(event.seq === undefined ? {} : { seq: event.seq + shift }) };
}
