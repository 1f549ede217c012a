// Writes commits in order. Each is one statement, which also checks the right to write; those that arrive meanwhile are combined.

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

/** The row's content before this process's first commit. */
export interface WriterStart {
	readonly isNew: boolean;
	readonly version: number;
	readonly lastSeq: number;
	readonly generation: number;
	/** The next context row position, and whether there is a system prompt. */
	readonly nextRow: number;
	readonly hasPrompt: boolean;
	readonly hasContext: boolean;
	readonly hasMessage: boolean;
	readonly firstTitle: string | null;
	readonly state: SessionState;
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
	/** Finds out why a statement had no effect: resolves `lost` if the session is lost. */
	onRefused(): Promise<void>;
}

interface WriteOptions {
	readonly sync: boolean;
	readonly creates?: boolean;
	readonly establishes?: boolean;
}

interface WaitingCommit extends Commit {
	readonly sync: boolean;
	readonly creates: boolean;
	readonly stored: Deferred<readonly AgentEvent[]>;
}

/** Milliseconds that an unsynced commit waits for others to be sent with it. */
const gathering = 2;
const longestGroup = 500;
const firstRetry = 50;
const longestRetry = 1_000;

export class SessionWriter {
	readonly #options: WriterOptions;
	readonly #texts: ReturnType<typeof commitStatements>;
	#exists: boolean;
	#version: number;
	#summarySeq: number;
	#isStateStale: boolean;
	#now: Change;
	readonly #waiting: WaitingCommit[] = [];
	#running: Promise<void> | null = null;
	#wake: (() => void) | null = null;
	#loss: KernelError | null = null;
	readonly #over = new AbortController();

	constructor(options: WriterOptions) {
		const { start, database } = options;
		this.#options = options;
		this.#texts = commitStatements(database.schema);
		this.#exists = !start.isNew;
		this.#version = start.version;
		this.#summarySeq = start.summarySeq;
		this.#isStateStale = start.isStateStale;
		this.#now = {
			...start,
			events: [],
			numbered: [],
			rows: [],
			isEstablished: false,
			changesState: false,
			changesTitle: false,
			changesArchive: false,
			storesSummary: false,
		};
		void options.lost.then((reason) => {
			this.#loss = reason;
			this.#over.abort(reason);
		});
	}

	get exists(): boolean {
		return this.#exists;
	}

	get version(): number {
		return this.#version;
	}

	get isEmpty(): boolean {
		return this.#now.state.customTitle === null && this.#now.lastSeq === 0 && !this.#now.hasMessage;
	}

	cursor(): Cursor {
		return { epoch: this.#options.epoch, seq: this.#now.lastSeq };
	}

	state(): SessionState {
		return this.#now.state;
	}

	commit(batch: Batch, { sync, creates = false, establishes = false }: WriteOptions): Promise<readonly AgentEvent[]> {
		const stored = createDeferred<readonly AgentEvent[]>();
		this.#waiting.push({ batch, sync, creates, establishes, stored });
		if (sync) this.#wake?.();
		this.#running ??= this.#run();
		return stored.promise;
	}

	async settled(): Promise<void> {
		await this.#running;
	}

	/** The summary columns; null if the row already has them. */
	summaryColumns(): { readonly summary: string; readonly seq: number } | null {
		return this.#now.lastSeq === this.#summarySeq
			? null
			: { summary: JSON.stringify(toSummaryRecord(this.#now.summary.current)), seq: this.#now.lastSeq };
	}

	#row(): CommittedRow {
		return { ...this.#options, version: this.#version, isStateStale: this.#isStateStale };
	}

	async #send(change: Change): Promise<void> {
		const { database, clock, log, sessionId } = this.#options;
		const isFirst = !this.#exists;
		const values = commitValues(this.#row(), change, isFirst);
		let wait = firstRetry;
		let isRepeated = false;
		for (const timeout of statementTimeouts()) {
			if (this.#loss !== null) throw this.#loss;
			try {
				const sent = database.query(isFirst ? this.#texts.first : this.#texts.later, values, { timeout });
				const rows = await this.#beforeLoss(sent);
				if (rows.length > 0) return;
				if (isRepeated && (await this.#beforeLoss(isStored(database, this.#row(), change)))) return;
				await this.#beforeLoss(this.#options.onRefused());
				if (this.#loss !== null) throw this.#loss;
			} catch (thrown) {
				if (this.#loss !== null || !isTransient(thrown)) throw this.#loss ?? thrown;
				log.warn("a commit is sent again", { sessionId, cause: errorText(thrown) });
			}
			isRepeated = true;
			await sleep(clock, wait, never);
			wait = Math.min(2 * wait, longestRetry);
		}
	}

	/** Rejects as soon as the session is lost, even if the connection never responds. */
	#beforeLoss<T>(work: Promise<T>): Promise<T> {
		return orAbort(work, this.#over.signal);
	}

	async #store(commits: readonly WaitingCommit[]): Promise<void> {
		const { database, log, sessionId, epoch } = this.#options;
		const isNeeded = commits.some(
			({ batch, creates, establishes }) => (creates && !this.#exists) || establishes || hasContent(batch),
		);
		if (!isNeeded) {
			if (this.#loss !== null) throw this.#loss;
			for (const { batch, stored } of commits) stored.resolve(batch.events ?? []);
			return;
		}
		const change = toChange(this.#now, commits, { epoch, summarySeq: this.#summarySeq });
		await this.#send(change);
		const isReplaced = change.generation !== this.#now.generation && this.#exists;
		this.#exists = true;
		this.#version += 1;
		this.#isStateStale = false;
		if (change.storesSummary) this.#summarySeq = change.lastSeq;
		this.#now = { ...change, events: [], numbered: [], rows: [] };
		for (const [index, { stored }] of commits.entries()) stored.resolve(change.numbered[index] ?? []);
		if (isReplaced) {
			void removeOldRows(database, sessionId, "", change.generation).catch((thrown: unknown) =>
				log.info("old rows of a context were not removed", { sessionId, cause: errorText(thrown) }),
			);
		}
	}

	async #gather(): Promise<void> {
		if (this.#waiting.some(({ sync }) => sync)) return;
		await new Promise<void>((resolve) => {
			const timer = setTimeout(resolve, gathering);
			this.#wake = () => {
				clearTimeout(timer);
				resolve();
			};
		});
		this.#wake = null;
	}

	async #run(): Promise<void> {
		await this.#gather();
		while (this.#waiting.length > 0) {
			const commits = this.#waiting.splice(0, longestGroup);
			try {
				await this.#store(commits);
			} catch (thrown) {
				for (const commit of commits) commit.stored.reject(thrown);
			}
		}
		this.#running = null;
	}
}
