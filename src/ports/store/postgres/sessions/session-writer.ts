// Writes the commits of one session, in order: each is one statement, which also checks that this process may write.
// Commits that arrive while one is under way go into the next one together.

import type { AgentEvent, Cursor } from "../../../../api/values/event.ts";
import { never, orAbort } from "../../../../base/abort.ts";
import { type Clock, sleep } from "../../../../base/clock.ts";
import { createDeferred, type Deferred } from "../../../../base/deferred.ts";
import { errorText, type KernelError } from "../../../../base/errors.ts";
import type { Log } from "../../../../base/log.ts";
import type { RunningSummary } from "../../journal-summary.ts";
import { toSummaryRecord } from "../../record.ts";
import type { Batch, SessionState } from "../../session-store.ts";
import { type Change, type Commit, hasContent, toChange } from "../commit-change.ts";
import { type CommittedRow, commitStatements, commitValues, isStored } from "../commit-statement.ts";
import { removeOldRows } from "../context-rows.ts";
import { type Database, isTransient } from "../database.ts";
import { statementTimeouts } from "../statement-timeouts.ts";

/** What the row has before the first commit of this process. */
export interface WriterStart {
	readonly isNew: boolean;
	readonly version: number;
	readonly lastSeq: number;
	readonly generation: number;
	/** Of the context: the place of the next row, and whether there is a system prompt. */
	readonly nextRow: number;
	readonly hasPrompt: boolean;
	readonly hasContext: boolean;
	readonly hasMessage: boolean;
	readonly firstTitle: string | null;
	readonly state: SessionState;
	/** Whether the state in the row is another one. */
	readonly isStateStale: boolean;
	readonly summary: RunningSummary;
	readonly summarySeq: number;
	readonly answeredSeq: number;
}

export interface WriterOptions {
	readonly database: Database;
	readonly clock: Clock;
	readonly log: Log;
	readonly sessionId: string;
	readonly workDir: string;
	readonly epoch: string;
	readonly owner: string;
	readonly needs: readonly string[];
	readonly isStaged: boolean;
	readonly holder: string;
	readonly term: number;
	readonly start: WriterStart;
	/** Resolves when nothing can be written any more. */
	readonly lost: Promise<KernelError>;
	/** Finds out why a statement changed nothing: resolves `lost` if the session is lost. */
	onRefused(): Promise<void>;
}

export interface SessionWriter {
	/** Whether the session has a row. */
	readonly exists: boolean;
	readonly isEmpty: boolean;
	cursor(): Cursor;
	state(): SessionState;
	/** How often it was written. */
	readonly version: number;
	/** `creates` makes the row also for an empty batch, `establishes` as one that is retained although it is empty. */
	commit(
		batch: Batch,
		options: { readonly sync: boolean; readonly creates?: boolean; readonly establishes?: boolean },
	): Promise<readonly AgentEvent[]>;
	/** Waits for the earlier commits. */
	settled(): Promise<void>;
	/** The summary as columns, if the row has an older one. */
	summaryColumns(): { readonly summary: string; readonly seq: number } | null;
}

interface WaitingCommit extends Commit {
	readonly sync: boolean;
	readonly creates: boolean;
	readonly stored: Deferred<readonly AgentEvent[]>;
}

/** Milliseconds that a commit waits for others which can be sent with it, unless it is to be on stable storage. */
const gathering = 2;
/** The most commits of one statement. */
const longestGroup = 500;
const firstRetry = 50;
const longestRetry = 1_000;

export function createSessionWriter(options: WriterOptions): SessionWriter {
	const { database, clock, sessionId, epoch, start } = options;
	const { schema } = database;
	let exists = !start.isNew;
	let version = start.version;
	let summarySeq = start.summarySeq;
	let isStateStale = start.isStateStale;
	let now: Change = {
		events: [],
		numbered: [],
		lastSeq: start.lastSeq,
		generation: start.generation,
		rows: [],
		nextRow: start.nextRow,
		hasPrompt: start.hasPrompt,
		hasContext: start.hasContext,
		hasMessage: start.hasMessage,
		isEstablished: false,
		firstTitle: start.firstTitle,
		state: start.state,
		changesState: false,
		changesTitle: false,
		changesArchive: false,
		summary: start.summary,
		storesSummary: false,
		answeredSeq: start.answeredSeq,
	};
	const waiting: WaitingCommit[] = [];
	let running: Promise<void> | null = null;
	let wake: (() => void) | null = null;
	let loss: KernelError | null = null;
	const over = new AbortController();
	void options.lost.then((reason) => {
		loss = reason;
		over.abort(reason);
	});

	const texts = commitStatements(schema);
	const row = (): CommittedRow => ({ ...options, version, isStateStale });

	const send = async (change: Change): Promise<void> => {
		const isFirst = !exists;
		const values = commitValues(row(), change, isFirst);
		let wait = firstRetry;
		let isRepeated = false;
		for (const timeout of statementTimeouts()) {
			if (loss !== null) throw loss;
			try {
				const sent = database.query(isFirst ? texts.first : texts.later, values, { timeout });
				const rows = await beforeLoss(sent);
				if (rows.length > 0) return;
				if (isRepeated && (await beforeLoss(isStored(database, row(), change)))) return;
				await beforeLoss(options.onRefused());
				if (loss !== null) throw loss;
			} catch (thrown) {
				if (loss !== null || !isTransient(thrown)) throw loss ?? thrown;
				options.log.warn("a commit is sent again", { sessionId, cause: errorText(thrown) });
			}
			isRepeated = true;
			await sleep(clock, wait, never);
			wait = Math.min(2 * wait, longestRetry);
		}
	};

	/** Whatever the database does then: a connection on which nothing comes back must not hold up the one who waits. */
	const beforeLoss = <T>(work: Promise<T>): Promise<T> => orAbort(work, over.signal);

	const store = async (commits: readonly WaitingCommit[]): Promise<void> => {
		const isNeeded = commits.some(
			({ batch, creates, establishes }) => (creates && !exists) || establishes || hasContent(batch),
		);
		if (!isNeeded) {
			if (loss !== null) throw loss;
			for (const { batch, stored } of commits) stored.resolve(batch.events ?? []);
			return;
		}
		const change = toChange(now, commits, { epoch, summarySeq });
		await send(change);
		const isReplaced = change.generation !== now.generation && exists;
		exists = true;
		version += 1;
		isStateStale = false;
		if (change.storesSummary) summarySeq = change.lastSeq;
		now = { ...change, events: [], numbered: [], rows: [] };
		for (const [index, { stored }] of commits.entries()) stored.resolve(change.numbered[index] ?? []);
		if (isReplaced) {
			void removeOldRows(database, sessionId, "", change.generation).catch((thrown: unknown) =>
				options.log.info("old rows of a context were not removed", { sessionId, cause: errorText(thrown) }),
			);
		}
	};

	const gather = async (): Promise<void> => {
		if (waiting.some(({ sync }) => sync)) return;
		await new Promise<void>((resolve) => {
			const timer = setTimeout(resolve, gathering);
			wake = () => {
				clearTimeout(timer);
				resolve();
			};
		});
		wake = null;
	};

	const run = async (): Promise<void> => {
		await gather();
		while (waiting.length > 0) {
			const commits = waiting.splice(0, longestGroup);
			try {
				await store(commits);
			} catch (thrown) {
				for (const commit of commits) commit.stored.reject(thrown);
			}
		}
		running = null;
	};

	return {
		get exists() {
			return exists;
		},
		get version() {
			return version;
		},
		get isEmpty() {
			return now.state.customTitle === null && now.lastSeq === 0 && !now.hasMessage;
		},
		cursor: () => ({ epoch, seq: now.lastSeq }),
		state: () => now.state,
		commit(batch, { sync, creates = false, establishes = false }) {
			const stored = createDeferred<readonly AgentEvent[]>();
			waiting.push({ batch, sync, creates, establishes, stored });
			if (sync) wake?.();
			running ??= run();
			return stored.promise;
		},
		async settled() {
			await running;
		},
		summaryColumns: () =>
			now.lastSeq === summarySeq
				? null
				: { summary: JSON.stringify(toSummaryRecord(now.summary.current)), seq: now.lastSeq },
	};
}
