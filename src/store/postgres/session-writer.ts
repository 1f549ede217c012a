// Writes the commits of one session, in order: each is one statement, which also checks that this process may write.
// Commits that arrive while one is under way go into the next one together.
import { type Clock, sleep } from "../../base/clock.ts";
import { createDeferred, type Deferred } from "../../base/deferred.ts";
import { errorText, type KernelError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { toLineText, wholeText } from "../../base/long-text.ts";
import type { ContextRow } from "../../events/conversation.ts";
import { type AgentEvent, type Cursor, eventDeclarations } from "../../events/event.ts";
import { toLine } from "../context-row.ts";
import { RunningSummary } from "../journal-summary.ts";
import { toEventRecord, toSummaryRecord } from "../record.ts";
import type { Batch, SessionState } from "../session-store.ts";
import { toTitle } from "../title.ts";
import { type Database, isTransient } from "./database.ts";
import { toColumn } from "./session-row.ts";

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

interface WaitingCommit {
	readonly batch: Batch;
	readonly sync: boolean;
	readonly creates: boolean;
	readonly establishes: boolean;
	readonly stored: Deferred<readonly AgentEvent[]>;
}

/** The place of the first row of a context: a system prompt that comes later gets the one before it. */
export const firstRow = 1;

/** Milliseconds that a commit waits for others which can be sent with it, unless it is to be on stable storage. */
const gathering = 2;
/** The most commits of one statement. */
const longestGroup = 500;
/** Events after which a summary is stored although no turn has ended, so that an opening reads no more than these. */
const summaryInterval = 2_000;
const firstRetry = 50;
const longestRetry = 1_000;
/** Milliseconds that a commit waits for its answer before it is sent again: longer each time, in case the database is slow. */
export const firstTimeout = 4_000;
export const longestTimeout = 30_000;

/** What a group of commits changes, and what is true when it is stored. */
interface Change {
	readonly events: readonly AgentEvent[];
	/** Per commit, its events with their numbers. */
	readonly numbered: readonly (readonly AgentEvent[])[];
	readonly lastSeq: number;
	readonly generation: number;
	/** Rows with their places in the generation. */
	readonly rows: readonly { readonly n: number; readonly row: ContextRow }[];
	readonly nextRow: number;
	readonly hasPrompt: boolean;
	readonly hasContext: boolean;
	readonly hasMessage: boolean;
	readonly isEstablished: boolean;
	readonly firstTitle: string | null;
	readonly state: SessionState;
	readonly changesState: boolean;
	readonly changesTitle: boolean;
	readonly changesArchive: boolean;
	readonly summary: RunningSummary;
	readonly storesSummary: boolean;
	readonly answeredSeq: number;
}

function isDurable({ body }: AgentEvent): boolean {
	return eventDeclarations[body.type].class === "durable";
}

function hasContent({ events = [], context, state }: Batch): boolean {
	const changesContext = context !== undefined && (context.kind === "replace" || context.rows.length > 0);
	return changesContext || (state !== undefined && Object.keys(state).length > 0) || events.some(isDurable);
}

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
	void options.lost.then((reason) => {
		loss = reason;
	});

	const toChange = (commits: readonly WaitingCommit[]): Change => {
		const summary = new RunningSummary(now.summary.current);
		const events: AgentEvent[] = [];
		const numbered: (readonly AgentEvent[])[] = [];
		let { lastSeq, generation, nextRow, hasPrompt, hasContext, hasMessage, firstTitle, answeredSeq } = now;
		let rows: { n: number; row: ContextRow }[] = [];
		let [state, changed]: [SessionState, Partial<SessionState>] = [now.state, {}];
		let endsTurn = false;
		for (const { batch } of commits) {
			const own = (batch.events ?? []).map((event) => {
				if (!isDurable(event)) return event;
				lastSeq += 1;
				const stored = { ...event, seq: lastSeq, epoch };
				events.push(stored);
				summary.addEvent(stored);
				if (event.agentPath.length > 0) return stored;
				if (event.body.type === "turn.started") firstTitle ??= toTitle(event.body.input);
				if (event.body.type === "turn.ended") endsTurn = true;
				return stored;
			});
			numbered.push(own);
			const { context } = batch;
			if (context !== undefined) {
				if (context.kind === "replace") {
					generation += 1;
					[rows, nextRow, hasPrompt, hasMessage] = [[], firstRow, false, false];
				}
				for (const [index, row] of context.rows.entries()) {
					const isPrompt = row.type === "system-prompt";
					const goesFirst = isPrompt && index === 0 && !hasPrompt && context.kind === "append";
					rows.push({ n: goesFirst ? 0 : nextRow, row });
					if (!goesFirst) nextRow += 1;
					hasPrompt ||= isPrompt;
					hasMessage ||= row.type === "message";
				}
				hasContext ||= context.rows.length > 0;
				const wasInStep = summary.current.isInStep;
				summary.addContext(context);
				if (wasInStep && !summary.current.isInStep) answeredSeq = lastSeq;
			}
			if (batch.state !== undefined) {
				state = { ...state, ...batch.state };
				changed = { ...changed, ...batch.state };
			}
		}
		const isEstablished = commits.some(({ establishes }) => establishes);
		const { customTitle, archivedAt, ...others } = changed;
		return {
			events,
			numbered,
			lastSeq,
			generation,
			rows,
			nextRow,
			hasPrompt,
			hasContext: hasContext || isEstablished,
			hasMessage,
			isEstablished,
			firstTitle,
			state,
			changesState: Object.keys(others).length > 0,
			changesTitle: customTitle !== undefined,
			changesArchive: archivedAt !== undefined,
			summary,
			storesSummary: endsTurn || lastSeq - summarySeq >= summaryInterval,
			answeredSeq,
		};
	};

	/** The first commit makes the row, unless somebody else did. */
	const headOf = (isFirst: boolean): string => {
		const isLive = `exists (select from ${schema}.process where id = $3 and lease_until > now())`;
		return isFirst
			? `insert into ${schema}.session (id, work_dir, owner, needs, epoch, holder, term, version, last_seq, state, custom_title,
				archived_at, first_title, running_turn, summary, summary_seq, answered_seq, context_generation, has_context,
				has_message, is_established, is_staged)
			select $1, $24, $25, $26, $27, $3, $2, $4 + 1, $5, $11, case when $12 then $13 end, case when $14 then $15 end, $19,
				$20, $21, coalesce($22, 0), $23, $8, $16, $17,
				$18, $28 where ${isLive}
			on conflict (id) do nothing returning id`
			: `update ${schema}.session set version = version + 1, last_seq = $5, context_generation = $8,
				state = coalesce($11, state), custom_title = case when $12 then $13 else custom_title end,
				archived_at = case when $14 then $15 else archived_at end, has_context = $16, has_message = $17,
				is_established = is_established or $18, first_title = $19,
				running_turn = $20, summary = coalesce($21, summary), summary_seq = coalesce($22, summary_seq), answered_seq = $23, updated_at = date_trunc('milliseconds', now())
			where id = $1 and term = $2 and holder = $3 and version = $4 and ${isLive} returning id`;
	};
	const textOf = (isFirst: boolean): string => `with head as (${headOf(isFirst)}), events as (
			insert into ${schema}.event (session_id, seq, term, body)
			select head.id, e.seq, $2, e.body from head, unnest($6::bigint[], $7::text[]) as e(seq, body)
		), rows as (
			insert into ${schema}.context_row (session_id, agent_id, generation, n, body)
			select head.id, '', $8, r.n, r.body from head, unnest($9::bigint[], $10::text[]) as r(n, body)
		) select id from head`;
	const texts = { first: typed(textOf(true)), later: typed(textOf(false)) };

	const valuesOf = (change: Change, isFirst: boolean): unknown[] => {
		const { state, summary } = change;
		const values: unknown[] = [
			sessionId,
			options.term,
			options.holder,
			version,
			change.lastSeq,
			change.events.map(({ seq }) => seq),
			change.events.map((event) => wholeText(toLineText(toEventRecord(event)))),
			change.generation,
			change.rows.map(({ n }) => n),
			change.rows.map(({ row }) => wholeText(toLine(row))),
			change.changesState || isStateStale || isFirst ? toStateText(state) : null,
			change.changesTitle,
			state.customTitle === null ? null : toColumn(state.customTitle),
			change.changesArchive || isStateStale,
			state.archivedAt,
			change.hasContext,
			change.hasMessage,
			change.isEstablished,
			change.firstTitle === null ? null : toColumn(change.firstTitle),
			summary.current.openTurn,
			change.storesSummary ? JSON.stringify(toSummaryRecord(summary.current)) : null,
			change.storesSummary ? change.lastSeq : null,
			change.answeredSeq,
		];
		if (isFirst) values.push(options.workDir, options.owner, options.needs, epoch, options.isStaged);
		return values;
	};

	/** Whether the statement that was sent before is in the database, although its answer was not. */
	const isStored = async (change: Change): Promise<boolean> => {
		const [row] = await database.query(
			`select (select count(*) from ${schema}.event e join unnest($5::bigint[], $6::text[]) as sent(seq, body)
				on e.session_id = $1 and e.seq = sent.seq and e.term = $2 and e.body = sent.body) as events
			from ${schema}.session where id = $1 and epoch = $4 and ((term = $2 and version = $3) or cardinality($5::bigint[]) > 0)`,
			[
				sessionId,
				options.term,
				version + 1,
				epoch,
				change.events.map(({ seq }) => seq),
				change.events.map((event) => wholeText(toLineText(toEventRecord(event)))),
			],
		);
		return row !== undefined && Number(row["events"]) === change.events.length;
	};

	const send = async (change: Change): Promise<void> => {
		const isFirst = !exists;
		const values = valuesOf(change, isFirst);
		let wait = firstRetry;
		let timeout = firstTimeout;
		let isRepeated = false;
		for (;;) {
			if (loss !== null) throw loss;
			try {
				const sent = database.query(isFirst ? texts.first : texts.later, values, { timeout });
				const rows = await beforeLoss(sent);
				if (rows.length > 0) return;
				if (isRepeated && (await beforeLoss(isStored(change)))) return;
				await beforeLoss(options.onRefused());
				if (loss !== null) throw loss;
			} catch (thrown) {
				if (loss !== null || !isTransient(thrown)) throw loss ?? thrown;
				options.log.warn("a commit is sent again", { sessionId, cause: errorText(thrown) });
			}
			isRepeated = true;
			timeout = Math.min(2 * timeout, longestTimeout);
			await sleep(clock, wait, new AbortController().signal);
			wait = Math.min(2 * wait, longestRetry);
		}
	};

	/** Whatever the database does then: a connection on which nothing comes back must not hold up the one who waits. */
	const beforeLoss = <T>(work: Promise<T>): Promise<T> => {
		work.catch(() => undefined);
		return Promise.race([work, options.lost.then((reason) => Promise.reject<T>(reason))]);
	};

	const store = async (commits: readonly WaitingCommit[]): Promise<void> => {
		const isNeeded = commits.some(
			({ batch, creates, establishes }) => (creates && !exists) || establishes || hasContent(batch),
		);
		if (!isNeeded) {
			if (loss !== null) throw loss;
			for (const { batch, stored } of commits) stored.resolve(batch.events ?? []);
			return;
		}
		const change = toChange(commits);
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

/** Rows that are removed with one statement. */
const removedTogether = 1_000;

/** Removes the rows of contexts that were replaced, which nobody reads any more. */
export async function removeOldRows(
	{ query, schema }: Database,
	sessionId: string,
	agentId: string,
	generation: number,
): Promise<void> {
	let removed: number;
	do {
		const rows = await query(
			// The conditions twice: of a table with partitions, the places of rows are unique in each of them only.
			`delete from ${schema}.context_row where session_id = $1 and agent_id = $2 and generation < $3 and ctid = any (array(
				select ctid from ${schema}.context_row
				where session_id = $1 and agent_id = $2 and generation < $3 limit ${removedTogether}
			)) returning 1`,
			[sessionId, agentId, generation],
		);
		removed = rows.length;
	} while (removed === removedTogether);
}

/** Title and time of archiving have columns of their own. */
function toStateText({ customTitle: _, archivedAt: __, ...state }: SessionState): string {
	return JSON.stringify(state);
}

/** With the types of parameters that the server cannot infer from their places. */
function typed(text: string): string {
	const types: Readonly<Record<number, string>> = {
		1: "text",
		2: "bigint",
		3: "text",
		4: "bigint",
		5: "bigint",
		8: "bigint",
		11: "text",
		12: "boolean",
		13: "text",
		14: "boolean",
		15: "double precision",
		16: "boolean",
		17: "boolean",
		18: "boolean",
		19: "text",
		20: "text",
		21: "text",
		22: "bigint",
		23: "bigint",
		24: "text",
		25: "text",
		26: "text[]",
		27: "text",
		28: "boolean",
	};
	return text.replaceAll(/\$(\d+)(?!\d*::)/g, (all, number: string) => {
		const type = types[Number(number)];
		return type === undefined ? all : `${all}::${type}`;
	});
}
