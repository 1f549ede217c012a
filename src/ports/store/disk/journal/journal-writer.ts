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
	/** The number of the last event. */
	readonly lastSeq: number;
	readonly summary: RunningSummary;
	readonly hasState: boolean;
	readonly clock: Clock;
	/** Runs before the first write, and before a sync alone; every append to the journal runs it as well. What it throws is the failure of the commits. */
	prepare(): Promise<void>;
	/** The lines before those of the first commit of this run. */
	firstLines(): Promise<readonly LineText[]>;
	/** The change as the journal has it. */
	toStoredChange(change: ContextChange): Promise<ContextChange>;
	/** Puts what was written elsewhere on stable storage. */
	syncOthers(): Promise<void>;
	/** Called when nothing is to be written for the time being: the files need not be open. */
	rest(): void;
	/**
	 * Writes what the journal has got to the files that other programs read; `end` is where it ended then. Never rejects.
	 * While a turn runs, its commits do not wait for it, and the journal may get more meanwhile.
	 */
	project(batches: readonly Batch[], end: number): Promise<void>;
	sizes(): LogSizes;
	/** Whether the other logs have nothing that the journal lacks, and the state nothing that its file lacks: else the next opening has to find it. */
	isSummarizable(): Promise<boolean>;
}

export interface JournalWriter {
	/** Whether anything was written in this run. */
	readonly hasBegun: boolean;
	/** The bytes of the journal that are committed. */
	readonly end: number;
	cursor(): Cursor;
	/** Stores the lines before those of the first commit, unless they are stored. Fails with the reason why they cannot be. */
	begin(): Promise<void>;
	commit(batch: Batch, sync: boolean): Promise<readonly AgentEvent[]>;
	/** Stores the batch, which has no events, with the next commit, or before long. Until it is stored, every commit tries it again, and fails as it does. */
	commitWithNext(batch: Batch): void;
	/** Waits for the earlier commits, and for what they write to the files that other programs read. */
	settled(): Promise<void>;
	/** Stores a summary, if anything was stored, so that the next opening has less to read. Fails when something that nobody waits for could not be stored. */
	finish(): Promise<void>;
}

/** Milliseconds after which the files that other programs read get what the journal has got, while a turn runs. */
const projectionDelay = 20;
/** Batches that wait to be written to them at most. */
const projectedTogether = 64;

/** Milliseconds after which what is stored with the next commit is stored without one. */
const joiningDelay = 20;

/** Milliseconds without a commit, outside of turns, after which the files are closed. */
const restingDelay = 1000;

interface WaitingCommit {
	readonly batch: Batch;
	readonly sync: boolean;
	/** Whether the lines before those of the first commit are stored in any case. */
	readonly begins: boolean;
	/** Null for one that nobody waits for. */
	readonly stored: Deferred<readonly AgentEvent[]> | null;
}

/** Whether the batch has anything that is stored. */
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

/** Whether it replaces what other programs read, instead of adding to it. */
function changesFiles({ context, state }: Batch): boolean {
	return context?.kind === "replace" || state !== undefined;
}

export function createJournalWriter(options: JournalWriterOptions): JournalWriter {
	const { journal, epoch, summary } = options;
	let lastSeq = options.lastSeq;
	let hasState = options.hasState;
	let hasBegun = false;
	let end = 0;
	/** Whether a turn of the session's own agent runs. */
	let isInTurn = false;
	/** The writing of the files that other programs read: one at a time, of all that has come meanwhile. */
	let projecting: Promise<void> = Promise.resolve();
	/** What the journal has and these files do not get yet. */
	let unprojected: Batch[] = [];
	let withdrawProjection: (() => void) | null = null;
	const waiting: WaitingCommit[] = [];
	/** Whether what nobody waits for is to be stored now. */
	let isOverdue = false;
	/** Why the last write failed; null when it did not. */
	let failure: unknown = null;
	let withdrawOverdue: (() => void) | null = null;
	let withdrawRest: (() => void) | null = null;
	let running: Promise<void> | null = null;

	const summaryLines = (clean: boolean): LineText[] => {
		const stored = { ...summary.current, seq: lastSeq, sizes: options.sizes(), hasState, clean };
		return toGroupLines([{ kind: "summary", summary: stored }]);
	};

	/** The batch with numbers for its durable events, from `before` on. */
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

	/** Appends the lines; when they must be on stable storage and cannot be, they are taken back. */
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
	/** While a turn runs, what it does next does not wait for them, and what it does in one go they get in one go. */
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
		// A summary has the sizes of these files, what the journal has of a prompt depends on one of them, and one that is written
		// after a change that it lacks would look as if another program had written it.
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
		// What is stored in one go is written in one go.
		await null;
		while (isOverdue || waiting.some(({ stored }) => stored !== null)) {
			isOverdue = false;
			withdrawOverdue?.();
			withdrawOverdue = null;
			// What the journal has of a change that adds a prompt depends on the context before it.
			const alone = waiting.findIndex(({ batch }) => addsPrompt(batch));
			const commits = waiting.splice(0, alone === -1 ? waiting.length : Math.max(1, alone));
			try {
				const stored = await writeTogether(commits);
				for (const [index, commit] of commits.entries()) commit.stored?.resolve(stored[index]?.events ?? []);
				failure = null;
			} catch (thrown) {
				failure = thrown;
				const again = commits.filter(({ stored }) => stored === null);
				// Where one of several is stored alone, what comes after those that nobody waits for fails as they do.
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
