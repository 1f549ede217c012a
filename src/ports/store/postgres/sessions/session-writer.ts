// Writes commits in order. Each is one statement, which also checks the right to write; those that arrive meanwhile are combined.

import type { AgentEvent, Cursor } from "../../../../api/values/event.ts";
import { never, orAbort } from "../../../../base/abort.ts";
import { sleep } from "../../../../base/clock.ts";
import { createDeferred, type Deferred } from "../../../../base/deferred.ts";
import { errorText } from "../../../../base/errors.ts";
import type { RunningSummary } from "../../journal-summary.ts";
import { toSummaryRecord } from "../../record.ts";
import type { Batch, SessionState } from "../../session-store.ts";
import { type Change, type Commit, hasContent, toChange } from "../commit-change.ts";
import {
	type CommittedRow,
	commitStatements,
	commitValues,
	isStored,
	type WrittenSession,
} from "../commit-statement.ts";
import { removeOldRows } from "../context-rows.ts";
import { isTransient } from "../database.ts";
import { statementTimeouts } from "../statement-timeouts.ts";
import type { SessionHold } from "./session-hold.ts";
import type { SessionSurroundings } from "./session-parts.ts";

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
	readonly isEstablished: boolean;
	readonly firstTitle: string | null;
	readonly state: SessionState;
	readonly isStateStale: boolean;
	readonly summary: RunningSummary;
	readonly summarySeq: number;
	readonly answeredSeq: number;
}

export interface WriterOptions extends WrittenSession, Pick<SessionSurroundings, "database" | "clock" | "log"> {
	readonly start: WriterStart;
	readonly hold: SessionHold;
}

interface WriteOptions {
	readonly sync: boolean;
	readonly creates?: boolean;
	readonly establishes?: boolean;
}

interface WaitingCommit extends Commit, Required<WriteOptions> {
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
	#isEstablished: boolean;
	#now: Change;
	readonly #waiting: WaitingCommit[] = [];
	#running: Promise<void> | null = null;
	#wake: (() => void) | null = null;

	constructor(options: WriterOptions) {
		const { start, database } = options;
		this.#options = options;
		this.#texts = commitStatements(database.schema);
		this.#exists = !start.isNew;
		this.#version = start.version;
		this.#summarySeq = start.summarySeq;
		this.#isStateStale = start.isStateStale;
		this.#isEstablished = start.isEstablished;
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

	get isUnused(): boolean {
		return this.isEmpty && !this.#isEstablished;
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

	/** Creates the row. Idempotent. */
	async begin(): Promise<void> {
		if (!this.#exists) await this.commit({}, { sync: true, creates: true });
	}

	async establish(): Promise<void> {
		await this.commit({}, { sync: true, establishes: true });
		this.#isEstablished = true;
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
		const { database, clock, log, sessionId, hold } = this.#options;
		const { over } = hold;
		const isFirst = !this.#exists;
		const values = commitValues(this.#row(), change, isFirst);
		let wait = firstRetry;
		let isRepeated = false;
		for (const timeout of statementTimeouts()) {
			over.throwIfAborted();
			try {
				const sent = database.query(isFirst ? this.#texts.first : this.#texts.later, values, { timeout });
				const rows = await orAbort(sent, over);
				if (rows.length > 0) return;
				if (isRepeated && (await orAbort(isStored(database, this.#row(), change), over))) return;
				await orAbort(hold.examine(this), over);
				over.throwIfAborted();
			} catch (thrown) {
				over.throwIfAborted();
				if (!isTransient(thrown)) throw thrown;
				log.warn("a commit is sent again", { sessionId, cause: errorText(thrown) });
			}
			isRepeated = true;
			await sleep(clock, wait, never);
			wait = Math.min(2 * wait, longestRetry);
		}
	}

	async #store(commits: readonly WaitingCommit[]): Promise<void> {
		const { database, log, sessionId, epoch } = this.#options;
		const isNeeded = commits.some(
			({ batch, creates, establishes }) => (creates && !this.#exists) || establishes || hasContent(batch),
		);
		if (!isNeeded) {
			this.#options.hold.over.throwIfAborted();
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
