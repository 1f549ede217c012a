// Appends commits to a session's journal in order. Those that arrive during a write are combined in the next append.

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
	const changesState = state !== undefined && Object.keys(state).length > 0;
	return changesState || (context !== undefined && changesContext(context)) || events.some(isDurable);
}

function changesContext(change: ContextChange): boolean {
	return change.kind === "replace" || change.rows.length > 0;
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

/** A run that may be withdrawn until it begins. */
class Timer {
	readonly #start: (run: () => void) => () => void;
	#withdraw: (() => void) | null = null;

	constructor(clock: Clock, milliseconds: number) {
		this.#start = (run) => clock.after(milliseconds, run, true);
	}

	/** Unless it waits already. */
	start(run: () => void): void {
		this.#withdraw ??= this.#start(() => {
			this.#withdraw = null;
			run();
		});
	}

	stop(): void {
		this.#withdraw?.();
		this.#withdraw = null;
	}
}

/** Writes to the files that other programs read: one pass at a time, which covers everything that arrived meanwhile. */
class Projection {
	readonly #write: (batches: readonly Batch[]) => Promise<void>;
	readonly #timer: Timer;
	#waiting: Batch[] = [];
	#running: Promise<void> = Promise.resolve();

	constructor(clock: Clock, write: (batches: readonly Batch[]) => Promise<void>) {
		this.#write = write;
		this.#timer = new Timer(clock, projectionDelay);
	}

	add(batches: readonly Batch[]): void {
		this.#waiting.push(...batches);
	}

	/** For the time of a turn: the agent does not wait for these writes, and they are combined. */
	async soon(): Promise<void> {
		if (this.#waiting.length >= projectedTogether) await this.all();
		else this.#timer.start(() => void this.all());
	}

	async all(): Promise<void> {
		this.#timer.stop();
		for (let seen: Promise<void> | null = null; seen !== this.#running; await seen) seen = this.#running;
		const batches = this.#waiting;
		this.#waiting = [];
		if (batches.length > 0) this.#running = this.#write(batches);
		await this.#running;
	}
}

export class JournalWriter {
	readonly #options: JournalWriterOptions;
	readonly #projection: Projection;
	#lastSeq: number;
	#hasState: boolean;
	#hasBegun = false;
	#end = 0;
	#isInTurn = false;

	readonly #waiting: WaitingCommit[] = [];
	/** Whether unawaited batches must be stored now. */
	#isOverdue = false;
	readonly #overdue: Timer;
	/** Why the last write failed. */
	#failure: unknown = null;
	#running: Promise<void> | null = null;
	readonly #resting: Timer;

	constructor(options: JournalWriterOptions) {
		this.#options = options;
		this.#lastSeq = options.lastSeq;
		this.#hasState = options.hasState;
		this.#projection = new Projection(options.clock, (batches) => options.project(batches, this.#end));
		this.#overdue = new Timer(options.clock, joiningDelay);
		this.#resting = new Timer(options.clock, restingDelay);
	}

	get hasBegun(): boolean {
		return this.#hasBegun;
	}

	get end(): number {
		return this.#hasBegun ? this.#end : this.#options.journal.length;
	}

	get cursor(): Cursor {
		return { epoch: this.#options.epoch, seq: this.#lastSeq };
	}

	/** Stores the lines before the first commit, unless already stored. Fails with the reason if that is impossible. */
	async begin(): Promise<void> {
		if (!this.#hasBegun) await this.#enqueue({}, false, true);
	}

	commit(batch: Batch, sync: boolean): Promise<readonly AgentEvent[]> {
		return this.#enqueue(batch, sync, false);
	}

	/** Stores a batch without events with the next commit, or soon. Until it is stored, every commit retries it. */
	commitWithNext(batch: Batch): void {
		this.#waiting.push({ batch, sync: false, begins: false, stored: null });
		this.#overdue.start(() => this.#storeWaiting());
	}

	/** Waits for earlier commits, and for their writes to the files that other programs read. */
	async settled(): Promise<void> {
		this.#resting.stop();
		this.#storeWaiting();
		await this.#running;
		await this.#projection.all();
	}

	/** Stores a summary to speed up the next opening. Fails if a batch that no caller awaits could not be stored. */
	async finish(): Promise<void> {
		if (this.#waiting.length > 0) throw this.#failure;
		const { journal, isSummarizable } = this.#options;
		if (this.#hasBegun && (await isSummarizable())) await journal.append(this.#summaryLines(true));
	}

	#enqueue(batch: Batch, sync: boolean, begins: boolean): Promise<readonly AgentEvent[]> {
		const stored = createDeferred<readonly AgentEvent[]>();
		this.#waiting.push({ batch, sync, begins, stored });
		this.#running ??= this.#run();
		return stored.promise;
	}

	#storeWaiting(): void {
		if (this.#waiting.length === 0) return;
		this.#isOverdue = true;
		this.#running ??= this.#run();
	}

	async #run(): Promise<void> {
		// Combines commits made in the same tick into one write.
		await null;
		while (this.#isOverdue || this.#waiting.some(({ stored }) => stored !== null)) {
			this.#isOverdue = false;
			this.#overdue.stop();
			// The journal form of a change that adds a prompt depends on the context before it.
			const alone = this.#waiting.findIndex(({ batch }) => addsPrompt(batch));
			const commits = this.#waiting.splice(0, alone === -1 ? this.#waiting.length : Math.max(1, alone));
			try {
				const stored = await this.#writeTogether(commits);
				for (const [index, commit] of commits.entries()) commit.stored?.resolve(stored[index]?.events ?? []);
				this.#failure = null;
			} catch (thrown) {
				this.#fail(commits, thrown, alone !== -1);
			}
		}
		this.#running = null;
		if (this.#isInTurn) return;
		this.#resting.stop();
		this.#resting.start(() => {
			if (this.#running === null && !this.#isInTurn) this.#options.rest();
		});
	}

	/** Batches that no caller awaits are tried again. */
	#fail(commits: readonly WaitingCommit[], reason: unknown, isOneOfSeveral: boolean): void {
		this.#failure = reason;
		const again = commits.filter(({ stored }) => stored === null);
		// If one of several batches is stored alone, the commits after a failed unawaited batch fail too.
		const late = isOneOfSeveral && again.length === commits.length ? this.#takeFirstAwaited() : [];
		for (const { stored } of [...commits, ...late]) stored?.reject(reason);
		this.#waiting.unshift(...again);
	}

	#takeFirstAwaited(): readonly WaitingCommit[] {
		const index = this.#waiting.findIndex(({ stored }) => stored !== null);
		return index === -1 ? [] : this.#waiting.splice(index, 1);
	}

	async #writeTogether(commits: readonly WaitingCommit[]): Promise<readonly Batch[]> {
		const { journal, prepare, syncOthers } = this.#options;
		const sync = commits.some((commit) => commit.sync);
		const batches = commits.map(({ batch }) => batch);
		const begins = !this.#hasBegun && commits.some((commit) => commit.begins);
		const isEmpty = !begins && !batches.some(hasContent);
		if (this.#hasBegun ? isEmpty : !isEmpty) await prepare();
		if (!isEmpty) return this.#store(batches, sync);
		if (sync) await Promise.all([journal.sync(), syncOthers()]);
		return batches;
	}

	async #store(batches: readonly Batch[], sync: boolean): Promise<readonly Batch[]> {
		const stored = this.#numbered(batches);
		// The files must be current: a summary contains their sizes, a prompt's journal form depends on one of them, and a file
		// written after a change it lacks would seem modified by another program.
		const needsFiles = batches.some((batch) => endsTurn(batch) || addsPrompt(batch) || changesFiles(batch));
		if (needsFiles) await this.#projection.all();
		await this.#append(await this.#toLines(stored), sync);
		this.#hasBegun = true;
		this.#end = this.#options.journal.length;
		for (const batch of stored) this.#note(batch);
		this.#projection.add(stored);
		if (!this.#isInTurn || needsFiles) await this.#projection.all();
		else await this.#projection.soon();
		return stored;
	}

	#numbered(batches: readonly Batch[]): readonly Batch[] {
		const { epoch } = this.#options;
		let seq = this.#lastSeq;
		return batches.map((batch) => {
			const events = (batch.events ?? []).map((event) => {
				if (!isDurable(event)) return event;
				seq += 1;
				return { ...event, seq, epoch };
			});
			return { ...batch, events };
		});
	}

	async #toLines(batches: readonly Batch[]): Promise<readonly LineText[]> {
		const lines = [...(this.#hasBegun ? [] : await this.#options.firstLines())];
		if (this.#hasBegun && batches.some(endsTurn) && (await this.#options.isSummarizable()))
			lines.push(...this.#summaryLines(false));
		for (const batch of batches) lines.push(...toGroupLines(await this.#toRecords(batch)));
		return lines;
	}

	async #toRecords({ events = [], context, state }: Batch): Promise<JournalRecord[]> {
		const records: JournalRecord[] = events.filter(isDurable).map((event) => ({ kind: "event", event }));
		if (context !== undefined && changesContext(context)) {
			records.push({ kind: "context", change: await this.#options.toStoredChange(context) });
		}
		if (state !== undefined && Object.keys(state).length > 0) records.push({ kind: "state", state });
		return records;
	}

	/** Appends the lines; takes them back if they must be synced and cannot be. */
	async #append(lines: readonly LineText[], sync: boolean): Promise<void> {
		const { journal, syncOthers } = this.#options;
		await journal.append(lines);
		if (!sync) return;
		try {
			await Promise.all([journal.sync(), syncOthers()]);
		} catch (thrown) {
			await journal.undo().catch(() => undefined);
			throw thrown;
		}
	}

	#note({ events = [], context, state }: Batch): void {
		const { summary } = this.#options;
		for (const event of events) {
			if (!isDurable(event)) continue;
			summary.addEvent(event);
			this.#lastSeq = event.seq ?? this.#lastSeq;
			if (event.agentPath.length === 0 && event.body.type === "turn.started") this.#isInTurn = true;
		}
		if (endsTurn({ events })) this.#isInTurn = false;
		if (context !== undefined) summary.addContext(context);
		this.#hasState ||= state !== undefined;
	}

	#summaryLines(clean: boolean): LineText[] {
		const { summary, sizes } = this.#options;
		const stored = { ...summary.current, seq: this.#lastSeq, sizes: sizes(), hasState: this.#hasState, clean };
		return toGroupLines([{ kind: "summary", summary: stored }]);
	}
}
