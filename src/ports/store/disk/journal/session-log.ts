// A session's logs as a unit: commits go to the journal and then to the shared files; events come from it and the history before it.

import type { ContextChange, ContextRow } from "../../../../api/values/conversation.ts";
import type { AgentEvent, Cursor } from "../../../../api/values/event.ts";
import type { Clock } from "../../../../base/clock.ts";
import { errorText } from "../../../../base/errors.ts";
import type { Log } from "../../../../base/log.ts";
import type { LineText } from "../../../../base/text/long-text.ts";
import type { FileStatus, Files } from "../../../files/port.ts";
import { RunningSummary } from "../../journal-summary.ts";
import type { Batch } from "../../session-store.ts";
import { createContextLog, parseContext } from "../logs/context-log.ts";
import { damagedPath } from "../logs/damaged-file.ts";
import { readEventBatches, toHeader } from "../logs/event-log.ts";
import type { FoundSession } from "../logs/found-session.ts";
import type { LineFile } from "../logs/line-file.ts";
import { withStorageError } from "../logs/storage-error.ts";
import type { SessionPaths } from "../session-directory.ts";
import type { StateFile } from "../state-file.ts";
import { type FileRange, readJournalEvents, readRecords } from "./journal-file.ts";
import { type JournalSource, readJournalContext } from "./journal-opening.ts";
import { type JournalHeader, type JournalRecord, toGroupLines, toHeaderLine } from "./journal-record.ts";
import { JournalWriter } from "./journal-writer.ts";
import { missingWireLines } from "./log-recovery.ts";
import { createProjections, type Repairs } from "./projections.ts";
import { type SessionHistory, shiftedEvent } from "./session-history.ts";

export interface SessionLogOptions {
	readonly files: Files;
	readonly log: Log;
	readonly clock: Clock;
	readonly sessionId: string;
	readonly protocolVersion: string;
	readonly paths: SessionPaths;
	readonly found: FoundSession;
	readonly history: SessionHistory;
	readonly stateFile: StateFile;
	/** Whether to reset the state, ignoring the journal. */
	readonly isFresh: boolean;
	/** Whether the session had no files before this run; valid after `prepare`. */
	isNew(): boolean;
	prepare(): Promise<void>;
	lineFile(file: string, knownSize: number, header?: string): LineFile;
	syncOthers(): Promise<void>;
	closeOthers(): Promise<void>;
}

export interface SessionLog {
	cursor(): Cursor;
	/** Stores numbers given to events of another program or under a new epoch. Fails if that is impossible. */
	storeNumbers(): Promise<void>;
	commit(batch: Batch, sync: boolean): Promise<readonly AgentEvent[]>;
	commitWithNext(batch: Batch): void;
	events(after: number): AsyncGenerator<readonly AgentEvent[]>;
	settled(): Promise<void>;
	finish(): Promise<void>;
	/** The event log's status when it last ended with a complete line; null if unknown. */
	wholeEvents(): FileStatus | null;
	close(): Promise<void>;
}

export function createSessionLog(options: SessionLogOptions): SessionLog {
	const { files, log, paths, found, history, stateFile, sessionId } = options;
	const { opening, imported } = history;
	const source: JournalSource = { files, log, path: paths.journal, sessionId };
	const wireHeader = toHeader(options.protocolVersion);
	const journal = options.lineFile(paths.journal, opening.kind === "opened" ? opening.range.end : 0);
	const wire = options.lineFile(paths.events, found.eventsSize, wireHeader);
	const contextLines = options.lineFile(paths.context, found.contextSize);
	const context = createContextLog({
		files,
		path: paths.context,
		lines: contextLines,
		opened: history.contextRows,
		syncs: false,
	});
	let header: JournalHeader = history.header;
	let shift = history.shift;
	let isRepaired = false;

	async function* journalEvents(end: number, after: number): AsyncGenerator<readonly AgentEvent[]> {
		const { epoch } = header;
		const offset = shift;
		let skipped = 0;
		const range = { start: 0, end };
		const onUnreadable = () => {
			skipped += 1;
		};
		const read = readJournalEvents(files, paths.journal, range, { sessionId, epoch }, after - offset, onUnreadable);
		for await (const events of read)
			yield offset === 0 ? events : events.map((event) => shiftedEvent(event, offset, epoch));
		if (skipped > 0) log.warn("lines of the journal could not be read", { path: paths.journal, skipped });
	}

	const pending = (): readonly AgentEvent[] => (writer.hasBegun ? [] : imported);
	async function* readAll(
		after: number,
		end: number,
		others: readonly AgentEvent[],
	): AsyncGenerator<readonly AgentEvent[]> {
		if (after >= writer.cursor.seq) return;
		const { epoch } = header;
		const { wire: length, events } = header.history;
		if (after < events) {
			for await (const batch of readEventBatches({ files, path: paths.events, length, log }, { sessionId, epoch })) {
				const isWhole = after === 0 && (batch.at(-1)?.seq ?? 0) <= events;
				yield isWhole ? batch : batch.filter(({ seq }) => seq > after && seq <= events);
			}
		}
		yield* journalEvents(end, after);
		yield others.filter(({ seq = 0 }) => seq > after);
	}

	const projections = createProjections({
		files,
		log,
		directory: paths.directory,
		wirePath: paths.events,
		wire,
		wireHeader,
		contextLines,
		context,
		stateFile,
		callsSize: found.callsSize,
		syncJournal: () => journal.sync(),
		journal: (end) => ({
			historyBytes: header.history.wire,
			async *events() {
				for await (const batch of journalEvents(end, 0)) yield* batch;
				yield* pending();
			},
			contextRows: () => readJournalContext(source, { start: 0, end }),
		}),
	});

	const toRepairs = async (): Promise<Repairs> => {
		const { context: contextRecovery, wire: wireRepair } = history;
		const isContextReplaced = opening.kind === "opened" && opening.stages.length > 1;
		if (opening.kind !== "opened" || wireRepair.kind !== "append") {
			const kind = wireRepair.kind === "rewrite" ? "rewrite" : "none";
			return { wire: { kind }, context: contextRecovery.repair, isContextReplaced };
		}
		const missing = await missingWireLines(source, opening, wireRepair.missing);
		return { wire: { kind: "append", missing }, context: contextRecovery.repair, isContextReplaced };
	};

	const repairJournal = async (): Promise<void> => {
		const size = (await files.status(paths.journal))?.size ?? 0;
		if (opening.kind === "damaged") {
			const aside = await damagedPath(files, paths.journal);
			await files.rename(paths.journal, aside);
			log.error("the journal could not be read and was moved aside", { path: paths.journal, movedTo: aside });
		} else if (size > journal.length) await files.truncate(paths.journal, journal.length);
		if (opening.kind !== "opened") return;
		switch (history.rewritten) {
			case "nothing":
				return;
			case "header":
				return journal.rewrite(underHeader(source, opening.range, header), true);
			case "all":
				await journal.rewrite(rewrittenJournal(source, opening.range, header, shift), true);
				shift = 0;
		}
	};

	const firstLines = async (): Promise<readonly LineText[]> => {
		if (!isRepaired && !options.isNew()) {
			// Positions refer to the journal as it is now.
			const repairs = await withStorageError(paths.journal, toRepairs);
			await withStorageError(paths.journal, repairJournal);
			await projections.repair(repairs, writer.end);
		}
		isRepaired = true;
		const isNew = opening.kind !== "opened";
		if (isNew) header = { ...header, history: { ...header.history, wire: wire.length } };
		const records: JournalRecord[] = imported.map((event) => ({ kind: "event", event }));
		const rows = history.context.isForeign ? history.contextRows() : null;
		if (rows !== null) records.push({ kind: "context", change: { kind: "replace", rows } });
		if (isNew ? found.hasState : options.isFresh && opening.hasState) {
			records.push({ kind: "state", state: stateFile.state() });
		}
		if (history.hasContent) {
			const { seq } = writer.cursor;
			const hasState = isNew ? found.hasState : opening.hasState;
			const summary = { ...history.summary, seq, sizes: projections.sizes(), hasState, clean: false };
			records.push({ kind: "summary", summary });
		}
		// The next opening must find this again if this run never writes the file.
		if (opening.kind === "opened" && opening.state !== null && stateFile.isStale()) {
			records.push({ kind: "state", state: options.isFresh ? stateFile.state() : opening.state });
		}
		return [...(isNew ? [toHeaderLine(header)] : []), ...toGroupLines(records)];
	};

	/** A system prompt inserted before existing rows changes the whole context. */
	const toStoredChange = async (change: ContextChange): Promise<ContextChange> => {
		const [first, ...others] = change.rows;
		if (change.kind === "replace" || first?.type !== "system-prompt" || !context.lacksPrompt()) return change;
		const bytes = (await files.read(paths.context)) ?? Buffer.alloc(0);
		const rows: ContextRow[] = [first, ...parseContext(bytes, paths.context, log), ...others];
		return { kind: "replace", rows };
	};

	const close = async (): Promise<void> => {
		await Promise.all([...[journal, wire, contextLines].map((lines) => lines.close()), options.closeOthers()]);
	};

	const writer = new JournalWriter({
		journal,
		epoch: header.epoch,
		lastSeq: history.lastSeq,
		summary: new RunningSummary(history.summary),
		hasState: opening.kind === "opened" ? opening.hasState : found.hasState,
		clock: options.clock,
		prepare: options.prepare,
		firstLines,
		toStoredChange,
		syncOthers: options.syncOthers,
		rest() {
			void close().catch((thrown: unknown) => {
				log.warn("a file of a session could not be closed", { directory: paths.directory, cause: errorText(thrown) });
			});
		},
		project: projections.write,
		sizes: projections.sizes,
		async isSummarizable() {
			if (stateFile.isStale()) return false;
			const [isWireShared, isContextShared] = await Promise.all([wire.isShared(), contextLines.isShared()]);
			return !isWireShared && !isContextShared;
		},
	});

	return {
		cursor: () => writer.cursor,
		async storeNumbers() {
			if (imported.length > 0 || history.rewritten !== "nothing") await writer.begin();
		},
		commit: (batch, sync) => writer.commit(batch, sync),
		commitWithNext: (batch) => writer.commitWithNext(batch),
		events: (after) => readAll(after, writer.end, pending()),
		settled: () => writer.settled(),
		finish: () => writer.finish(),
		wholeEvents: () => wire.whole,
		close,
	};
}

const pieceSize = 1024 * 1024;

async function* underHeader(
	{ files, path }: JournalSource,
	{ start, end }: FileRange,
	header: JournalHeader,
): AsyncGenerator<Buffer> {
	yield Buffer.from(`${toHeaderLine(header)}\n`);
	for (let at = start; at < end; at += pieceSize) {
		const piece = await files.readRange(path, at, Math.min(pieceSize, end - at));
		if (piece === null) throw new Error(`${path} is gone while it is read`);
		yield piece;
	}
}

async function* rewrittenJournal(
	source: JournalSource,
	range: FileRange,
	header: JournalHeader,
	shift: number,
): AsyncGenerator<Buffer> {
	yield Buffer.from(`${toHeaderLine(header)}\n`);
	const origin = { sessionId: source.sessionId, epoch: header.epoch };
	let group: JournalRecord[] = [];
	let groupEnd = range.start;
	for await (const placed of readRecords(source.files, source.path, range, origin)) {
		if (placed.groupEnd !== groupEnd) {
			yield* groupPieces(group);
			group = [];
			groupEnd = placed.groupEnd;
		}
		if (placed.record.kind !== "unreadable") group.push(toShifted(placed.record, shift, header.epoch));
	}
	yield* groupPieces(group);
}

function* groupPieces(group: readonly JournalRecord[]): Generator<Buffer> {
	for (const line of toGroupLines(group)) {
		for (const piece of typeof line === "string" ? [line] : line) yield Buffer.from(piece);
		yield Buffer.from("\n");
	}
}

function toShifted(record: JournalRecord, shift: number, epoch: string): JournalRecord {
	if (record.kind === "event") return { kind: "event", event: shiftedEvent(record.event, shift, epoch) };
	if (record.kind !== "summary") return record;
	const { summary } = record;
	const unretained = summary.unretained.map((event) => shiftedEvent(event, shift, epoch));
	// The event log is rewritten too.
	const sizes = { ...summary.sizes, wire: null };
	return { kind: "summary", summary: { ...summary, seq: summary.seq + shift, sizes, unretained } };
}
