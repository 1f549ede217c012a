// Appends commits to a session's journal, in order. Commits that arrive while one is being written go into the next
// append together.

import type { ContextChange } from "../../../../api/values/conversation.ts";
import { type AgentEvent, type Cursor, eventDeclarations } from "../../../../api/values/event.ts";
import type { Clock } from "../../../../base/clock.ts";
import { createDeferred, type Deferred } from "../../../../base/deferred.ts";
import type { LineText } from "../../../../base/text/long-text.ts";
import type { RunningSummary } from "../../journal-summary.ts";
import type { Batch } from "../../session-store.ts";
import type { LineFile } from "../logs/line-file.ts";
import { type JournalRecord, type LogSizes, toGroupLines } from "./journal-record.ts";

export interface JournalWriterOptions {
	readonly journal: LineFile;
	readonly epoch: string;
	readonly lastSeq: number;
	readonly summary: RunningSummary;
	readonly hasState: boolean;
	readonly clock: Clock;
	/** Runs before the first write, every append and a standalone sync. If it throws, the commits fail with that error. */
	prepare(): Promise<void>;
	firstLines(): Promise<readonly LineText[]>;
	toStoredChange(change: ContextChange): Promise<ContextChange>;
	syncOthers(): Promise<void>;
	/** Called when writing pauses: the files need not stay open. */
	rest(): void;
	/** Updates the files that other programs read, up to `end` of the journal. Never rejects. */
	project(batches: readonly Batch[], end: number): Promise<void>;
	sizes(): LogSizes;
	/** Whether the other logs and the state file contain everything, so that a summary is possible. */
	isSummarizable(): Promise<boolean>;
}

export interface JournalWriter {
	readonly hasBegun: boolean;
	readonly end: number;
	cursor(): Cursor;
	/** Stores the lines before the first commit, unless already stored. Fails with the reason if that is impossible. */
	begin(): Promise<void>;
	commit(batch: Batch, sync: boolean): Promise<readonly AgentEvent[]>;
	/** Stores a batch without events with the next commit, or soon. Until it is stored, every commit retries it. */
	commitWithNext(batch: Batch): void;
	/** Waits for earlier commits, and for their writes to the files that other programs read. */
	settled(): Promise<void>;
	/** Stores a summary to speed up the next opening. Fails if a batch that no caller awaits could not be stored. */
	finish(): Promise<void>;
}

/** Milliseconds until new journal content reaches the files that other programs read, while a turn runs. */
const projectionDelay = 20;
/** Maximum queued batches for those files. */
const projectedTogether = 64;

/** Milliseconds a `commitWithNext` batch waits for a commit. */
const joiningDelay = 20;

/** Milliseconds without a commit, outside of turns, after which the files are closed. */
const restingDelay = 1000;

interface WaitingCommit {
	readonly batch: Batch;
	readonly sync: boolean;
	/** Whether the lines before the first commit are stored even without content. */
	readonly begins: boolean;
	/** Null for a batch that no caller awaits. */
	readonly stored: Deferred<readonly AgentEvent[]> | null;
}

function hasContent({ events = [], context, state }: Batch): boolean {
	const changesContext = context !== undefined && (context.kind === "replace" || context.rows.length > 0);
	const changesState = state !== undefined && Object.keys(state).length > 0;
	return changesContext || changesState || events.some(isDurable);
}

function isDurable({ body }: AgentEvent): boolean {
	return eventDeclarations[body.type].class === "durable";
}

function endsTurn({ events = [] }: Batch): boolean {
	return events.some(({ body, agentPath }) => body.type === "turn.ended" && agentPath.length === 0);
}

function addsPrompt({ context }: Batch): boolean {
	return context?.kind === "append" && context.rows[0]?.type === "system-prompt";
}

/** Whether it replaces content that other programs read, rather than appending. */
function changesFiles({ context, state }: Batch): boolean {
	return context?.kind === "replace" || state !== undefined;
}

export function createJournalWriter(options: JournalWriterOptions): JournalWriter {
	const { journal, epoch, summary } = options;
	let lastSeq = options.lastSeq;
	let hasState = options.hasState;
	let hasBegun = false;
	let end = 0;
	let isInTurn = false;
	/** Writing to the files that other programs read: one pass at a time, covering everything that arrived meanwhile. */
	let projecting: Promise<void> = Promise.resolve();
	let unprojected: Batch[] = [];
	let withdrawProjection: (() => void) | null = null;
	const waiting: WaitingCommit[] = [];
	/** Whether unawaited batches must be stored now. */
	let isOverdue = false;
	let failure: unknown = null;
	let withdrawOverdue: (() => void) | null = null;
	let withdrawRest: (() => void) | null = null;
	let running: Promise<void> | null = null;

	const summaryLines = (clean: boolean): LineText[] => {
		const stored = { ...summary.current, seq: lastSeq, sizes: options.sizes(), hasState, clean };
		return toGroupLines([{ kind: "summary", summary: stored }]);
	};

	const numbered = (batch: Batch, before: number): Batch & { readonly events: readonly AgentEvent[] } => {
		let seq = before;
		const events = (batch.events ?? []).map((event) => {
			if (!isDurable(event)) return event;
			seq += 1;
			return { ...event, seq, epoch };
		});
		return { ...batch, events };
	};

	const toRecords = async ({ events = [], context, state }: Batch): Promise<JournalRecord[]> => {
		const records: JournalRecord[] = events.filter(isDurable).map((event) => ({ kind: "event", event }));
		if (context !== undefined && (context.kind === "replace" || context.rows.length > 0)) {
			records.push({ kind: "context", change: await options.toStoredChange(context) });
		}
		if (state !== undefined && Object.keys(state).length > 0) records.push({ kind: "state", state });
		return records;
	};

	const note = ({ events = [], context, state }: Batch): void => {
		for (const event of events) {
			if (!isDurable(event)) continue;
			summary.addEvent(event);
			lastSeq = event.seq ?? lastSeq;
			if (event.agentPath.length === 0 && event.body.type === "turn.started") isInTurn = true;
		}
		if (endsTurn({ events })) isInTurn = false;
		if (context !== undefined) summary.addContext(context);
		hasState ||= state !== undefined;
	};

	/** Appends the lines; takes them back if they must be synced and cannot be. */
	const append = async (lines: readonly LineText[], sync: boolean): Promise<void> => {
		await journal.append(lines);
		if (!sync) return;
		try {
			await Promise.all([journal.sync(), options.syncOthers()]);
		} catch (thrown) {
			await journal.undo().catch(() => undefined);
			throw thrown;
		}
	};

	const projectAll = async (): Promise<void> => {
		withdrawProjection?.();
		withdrawProjection = null;
		for (let seen: Promise<void> | null = null; seen !== projecting; await seen) seen = projecting;
		const batches = unprojected;
		unprojected = [];
		if (batches.length === 0) return await projecting;
		projecting = options.project(batches, end);
		await projecting;
	};
	/** During a turn the agent does not wait for these writes, and they are combined. */
	const projectSoon = (): void => {
		withdrawProjection ??= options.clock.after(projectionDelay, () => void projectAll(), true);
	};

	const store = async (batches: readonly Batch[], sync: boolean): Promise<readonly Batch[]> => {
		let seq = lastSeq;
		const stored = batches.map((batch) => {
			const next = numbered(batch, seq);
			seq += next.events.filter(isDurable).length;
			return next;
		});
		// The files must be current: a summary contains their sizes, a prompt's journal form depends on one of them, and a file
		// written after a change it lacks would seem modified by another program.
		const needsFiles = batches.some((batch) => endsTurn(batch) || addsPrompt(batch) || changesFiles(batch));
		if (needsFiles) await projectAll();
		const first = hasBegun ? [] : await options.firstLines();
		const lines = [...first];
		if (hasBegun && batches.some(endsTurn) && (await options.isSummarizable())) lines.push(...summaryLines(false));
		for (const batch of stored) lines.push(...toGroupLines(await toRecords(batch)));
		await append(lines, sync);
		hasBegun = true;
		end = journal.length;
		for (const batch of stored) note(batch);
		unprojected.push(...stored);
		if (!isInTurn || needsFiles || unprojected.length >= projectedTogether) await projectAll();
		else projectSoon();
		return stored;
	};

	const writeTogether = async (commits: readonly WaitingCommit[]): Promise<readonly Batch[]> => {
		const sync = commits.some((commit) => commit.sync);
		const batches = commits.map(({ batch }) => batch);
		const begins = !hasBegun && commits.some((commit) => commit.begins);
		const isEmpty = !begins && !batches.some(hasContent);
		if (hasBegun ? isEmpty : !isEmpty) await options.prepare();
		if (!isEmpty) return store(batches, sync);
		if (sync) await Promise.all([journal.sync(), options.syncOthers()]);
		return batches;
	};

	const takeFirstAwaited = (): readonly WaitingCommit[] => {
		const index = waiting.findIndex(({ stored }) => stored !== null);
		return index === -1 ? [] : waiting.splice(index, 1);
	};

	const run = async (): Promise<void> => {
		// Combines commits made in the same tick into one write.
		await null;
		while (isOverdue || waiting.some(({ stored }) => stored !== null)) {
			isOverdue = false;
			withdrawOverdue?.();
			withdrawOverdue = null;
			// The journal form of a change that adds a prompt depends on the context before it.
			const alone = waiting.findIndex(({ batch }) => addsPrompt(batch));
			const commits = waiting.splice(0, alone === -1 ? waiting.length : Math.max(1, alone));
			try {
				const stored = await writeTogether(commits);
				for (const [index, commit] of commits.entries()) commit.stored?.resolve(stored[index]?.events ?? []);
				failure = null;
			} catch (thrown) {
				failure = thrown;
				const again = commits.filter(({ stored }) => stored === null);
				// If one of several batches is stored alone, the commits after a failed unawaited batch fail too.
				if (alone !== -1 && again.length === commits.length) commits.push(...takeFirstAwaited());
				for (const commit of commits) commit.stored?.reject(thrown);
				waiting.unshift(...again);
			}
		}
		running = null;
		if (isInTurn) return;
		withdrawRest?.();
		withdrawRest = options.clock.after(restingDelay, rest, true);
	};
	const rest = (): void => {
		withdrawRest = null;
		if (running === null && !isInTurn) options.rest();
	};
	const storeWaiting = (): void => {
		if (waiting.length === 0) return;
		isOverdue = true;
		running ??= run();
	};

	const enqueue = (batch: Batch, sync: boolean, begins: boolean): Promise<readonly AgentEvent[]> => {
		const stored = createDeferred<readonly AgentEvent[]>();
		waiting.push({ batch, sync, begins, stored });
		running ??= run();
		return stored.promise;
	};

	return {
		get hasBegun() {
			return hasBegun;
		},
		get end() {
			return hasBegun ? end : journal.length;
		},
		cursor: () => ({ epoch, seq: lastSeq }),
		async begin() {
			if (!hasBegun) await enqueue({}, false, true);
		},
		commit: (batch, sync) => enqueue(batch, sync, false),
		commitWithNext(batch) {
			waiting.push({ batch, sync: false, begins: false, stored: null });
			withdrawOverdue ??= options.clock.after(joiningDelay, storeWaiting, true);
		},
		async settled() {
			withdrawRest?.();
			storeWaiting();
			await running;
			await projectAll();
		},
		async finish() {
			if (waiting.length > 0) throw failure;
			if (hasBegun && (await options.isSummarizable())) await journal.append(summaryLines(true));
		},
	};
}
