// The contract of stored sessions for the kernel. Three implementations: on disk in the Kimi layout, in memory, and in PostgreSQL.
// Everything committed survives the end of the process once the promise resolves, and with `sync` a loss of power.

import type { Todo, UserInput } from "../../api/values/content.ts";
import type { ContextChange, ContextRow } from "../../api/values/conversation.ts";
import type { AgentEvent, Cursor } from "../../api/values/event.ts";
import { KernelError } from "../../base/errors.ts";
import type { StoredNotifications, StoredTasks } from "./stored-tasks.ts";

/** The state of a session apart from its context: the fields of `state.json`. */
export interface SessionState {
	readonly approval: {
		readonly yolo: boolean;
		readonly afk: boolean;
		readonly autoApproveActions: readonly string[];
	};
	readonly additionalDirs: readonly string[];
	readonly customTitle: string | null;
	readonly planMode: boolean;
	readonly planSessionId: string | null;
	readonly planSlug: string | null;
	readonly todos: readonly Todo[];
	/** When it was archived, in seconds since the epoch; null when it was not. */
	readonly archivedAt: number | null;
	/** Its creation options, in the format of the host that stores them; null without any. */
	readonly creationOptions: unknown;
	/** The session whose copy it began as; null for one that began empty. */
	readonly forkedFrom: string | null;
}

/** What the budgets of a session limit: tokens, time of its turns, and tool calls, in total. */
export interface SessionUse {
	readonly tokens: number;
	readonly milliseconds: number;
	readonly toolCalls: number;
}

export const nothingUsed: SessionUse = { tokens: 0, milliseconds: 0, toolCalls: 0 };

/** A call found started and not finished when the session was opened. */
export interface UnfinishedCall {
	readonly toolCallId: string;
	readonly name: string;
	readonly arguments: string | null;
	/** Whether the context has its unknown outcome already. */
	readonly isRecovered: boolean;
}

export type AgentStatus = "idle" | "running_foreground" | "running_background" | "completed" | "failed" | "killed";

/** The description of a subagent. `createdAt` is milliseconds since the epoch. */
export interface AgentDescription {
	readonly id: string;
	readonly type: string;
	readonly description: string;
	readonly createdAt: number;
	/** The requested model alias and the effective one; null for the session's own. */
	readonly modelOverride: string | null;
	readonly effectiveModel: string | null;
}

/** The files of one subagent, within its session's. */
export interface StoredAgent {
	readonly description: AgentDescription;
	readonly contextRows: readonly ContextRow[];
	/** Stores the prompt and marks the subagent as running: in the background for a task, else for its caller. */
	begin(prompt: string, taskId?: string): Promise<void>;
	setStatus(status: AgentStatus): Promise<void>;
	changeContext(change: ContextChange): Promise<void>;
	/** Appends those events of the subagent that are logged. */
	appendEvents(events: readonly AgentEvent[]): Promise<void>;
	/** Appends the result of a run to the text for people; earlier ones stay. */
	appendOutput(text: string): Promise<void>;
}

/** What is stored together: after a crash either all of it is there or nothing. */
export interface Batch {
	/** Durable events get the next numbers in this order; volatile ones are not stored. */
	readonly events?: readonly AgentEvent[];
	readonly context?: ContextChange;
	/** Preserves what another process changed in title and archive fields. */
	readonly state?: Partial<SessionState>;
}

export interface CommitOptions {
	/** Whether the batch and everything before it must be on stable storage, to survive a loss of power. */
	readonly sync?: boolean;
	/**
	 * For a change of the context that nobody sees before what is committed next: the store may store it together with that, and before long
	 * without it. Then this resolves before it is stored. When it cannot be stored, the commits after it fail, until it is.
	 */
	readonly withNext?: boolean;
	/**
	 * For a change of the state alone that a session is opened with: where this process only reads the session, it counts in
	 * this process, and is stored with the first commit after the session is claimed.
	 */
	readonly whenClaimed?: boolean;
}

/** What the history says when a session is opened. */
export interface JournalSummary {
	/** What the session has consumed, as far as that was stored. */
	readonly used: SessionUse;
	/** The calls with effects that were started and are not over, oldest first. */
	readonly unfinishedCalls: readonly UnfinishedCall[];
	/**
	 * The events of an interrupted step of the session's own agent that its context does not have: what the model had
	 * said, the calls it had requested, and results.
	 */
	readonly unretained: readonly AgentEvent[];
	/** Whether the session's own agent is in a step whose answer its context does not have. */
	readonly isInStep: boolean;
	/** The turn whose end the history lacks; null when it has the end of the last one. */
	readonly openTurn: string | null;
	/**
	 * Inputs that go to the model as they are, of turns that have neither a first step nor an end, oldest first: their messages may
	 * be missing in the context of the session's own agent.
	 */
	readonly startedInputs: readonly StartedInput[];
	/** Inputs that were added to the turn that has no end, and that its context does not have, oldest first. */
	readonly waitingSteers: readonly StartedInput[];
	/** The turns that were started with a key, oldest first: the last of them, up to `turnKeyLimit`. */
	readonly keyedTurns: readonly KeyedTurn[];
}

/** How many keys of turns a session remembers: they are in each summary of its journal. */
export const turnKeyLimit = 64;

/** What a turn was started with. */
export interface StartedInput {
	readonly turnId: string;
	readonly input: UserInput;
}

/** A turn that was started with a key. */
export interface KeyedTurn {
	readonly key: string;
	readonly turnId: string;
	/** Of its input: the same input has the same one. */
	readonly digest: string;
}

/**
 * One stored session, which has one owner. Its journal is the truth: the durable events with their numbers, every change
 * of context and state, in order.
 */
export interface StoredSession {
	readonly id: string;
	readonly workDir: string;
	/** Of this machine, for its files or for those of commands in the background; null where there is none. */
	readonly directory: string | null;
	/** Whether it existed before, with a context. */
	readonly existed: boolean;
	/** The rows when it was opened; invalid ones were skipped and logged. Parsed when they are first asked for. */
	readonly contextRows: readonly ContextRow[];
	/** What was read at its opening: a session with the same one is unchanged. Absent where that is not known. */
	readonly reading?: object;
	/** As of when it was opened. */
	readonly summary: JournalSummary;
	/** The position of the newest durable event. */
	cursor(): Cursor;
	state(): SessionState;
	/**
	 * Stores the batch, after all earlier ones; an empty one with `sync` puts those on stable storage. Returns the events
	 * with their numbers. Fails `storage-failed`, and then nothing of the batch is stored; once another process has taken
	 * the session over, it fails so for good.
	 */
	commit(batch: Batch, options?: CommitOptions): Promise<readonly AgentEvent[]>;
	/**
	 * The durable events after this number, read lazily; those that are committed meanwhile are not among them. Each has
	 * its number, also where the log that it was read from has none. They come in batches, as they are read: a promise for
	 * each would take longer than reading it.
	 */
	events(after?: number): AsyncIterable<readonly AgentEvent[]>;
	/** Resolves with the reason when another process has taken the session over; nothing can be stored from then on. */
	readonly lost: Promise<KernelError>;
	/** Looks whether that has happened; absent where it is known without a look. */
	isHeld?(): Promise<boolean>;
	/** The files of a subagent, new or existing. */
	createAgent(description: AgentDescription): Promise<StoredAgent>;
	/** The subagent of this id; null when there is none. */
	openAgent(id: string): Promise<StoredAgent | null>;
	/** Its background tasks. */
	readonly tasks: StoredTasks;
	readonly notifications: StoredNotifications;
	/** Prepares what the first write would have to wait for, without a trace of the session. Absent where there is nothing. */
	warmUp?(): Promise<void>;
	/**
	 * Called when a turn begins: makes the session the work dir's last one. One that has been it before may become it a second
	 * later, and before the store is closed.
	 */
	markStarted(): Promise<void>;
	/**
	 * Persists the session although nothing has happened in it: it is on stable storage, and not deleted when closed.
	 */
	establish(): Promise<void>;
	/**
	 * Ends ownership. An empty session (no title, no event, no message) is deleted unless somebody prepared it; another
	 * one becomes the work dir's last one, unless `becomesLast` is false.
	 */
	close(options?: { readonly becomesLast?: boolean }): Promise<void>;
}

/** A session as it was stored when it was opened, to be read: every write is refused, and closing it leaves nothing. */
export interface SessionView extends StoredSession {
	/** Whether nobody has written it since. */
	isCurrent(): Promise<boolean>;
}

/** What a list says of a stored session. Times are milliseconds since the epoch. */
export interface SessionSummary {
	readonly id: string;
	readonly workDir: string;
	readonly title: string;
	/** When one of its logs was last written. */
	readonly updatedAt: number;
	/** Null for a session that is not archived. */
	readonly archivedAt: number | null;
	/** Why no process can run it at present; absent for one that can be run. */
	readonly notRunnable?: string;
}

/** For stores of a single machine. */
export function refusePlacement(placement: Placement | undefined): void {
	if (placement === undefined) return;
	throw new KernelError(
		"unsupported",
		"owner and needs choose between the workers of a store in PostgreSQL; this store is that of one machine.",
	);
}

export interface ListQuery {
	/** Only those of this work dir; absent for all that are known. */
	readonly workDir?: string;
	/** The `next` of the page before; absent for the first page. */
	readonly after?: string;
	/** The most sessions of one page; absent for all. */
	readonly limit?: number;
	/** Also those that were established and in which nothing has happened yet. */
	readonly withUnused?: boolean;
}

/** Sessions in which something has happened, the last written first. */
export interface SessionPage {
	readonly sessions: readonly SessionSummary[];
	/** Where the next page begins; null for the last page. */
	readonly next: string | null;
}

/** Which processes may run a session, where several machines share a store. */
export interface Placement {
	/** Whom it belongs to: the processes are shared fairly among owners. Empty for nobody in particular. */
	readonly owner: string;
	/** The tags that a process must have to run it, such as that of a file system with its work directory. */
	readonly needs: readonly string[];
}

export interface SessionStore {
	/**
	 * Opens the session, or creates one with this id. Never refuses an id that exists. The placement is for one that is
	 * created; fails `unsupported` with one where the store is that of a single machine.
	 */
	openOrCreate(workDir: string, id: string, placement?: Placement): Promise<StoredSession>;
	/**
	 * Creates the session of this id with the content that `fill` gives it. It is there once this resolves, as a whole and
	 * on stable storage; until then, when `fill` fails, and when the process ends in the middle, there is none. Fails `busy`
	 * when there is a session of this id. It is placed as the session of the id `like`, where there are placements.
	 */
	create(workDir: string, id: string, fill: (session: StoredSession) => Promise<void>, like?: string): Promise<void>;
	/**
	 * Null when there is no such session with a context or a valid event in its log. `from` says from whom it may be taken: from
	 * a process that has ended, else it fails `busy`, or from anyone, at once. Absent for what the store was opened with. What
	 * has not changed since the view need not be read again.
	 */
	open(workDir: string, id: string, from?: "ended" | "anyone", view?: SessionView): Promise<StoredSession | null>;
	/** The session as it is stored now; nothing is taken. Null when there is none, as `open`. */
	view(workDir: string, id: string): Promise<SessionView | null>;
	/** Which living process has it open for writing, for people; null when none is known to. */
	owner(workDir: string, id: string): Promise<string | null>;
	/**
	 * The current rows of a session's context, read only: nothing is taken over, created or changed, and another
	 * process may be writing the session meanwhile. Null when there is no such session.
	 */
	readContext(workDir: string, id: string): Promise<readonly ContextRow[] | null>;
	/**
	 * The stored events of a session, read only, as `readContext` does; none when there is no such session, or only logs
	 * of another program.
	 */
	readEvents(workDir: string, id: string): AsyncIterable<readonly AgentEvent[]>;
	/** The session that `--continue` names; null when there is none. */
	lastSessionId(workDir: string): Promise<string | null>;
	/** The work dir of an existing session; null when it is in no known one. */
	workDirOf(id: string): Promise<string | null>;
	/**
	 * Removes the session and all its files for good; it is no longer the last one of its work dir. Nothing happens when
	 * there is none. Fails `busy` while it is open, `storage-failed` when it cannot be removed.
	 */
	delete(workDir: string, id: string): Promise<void>;
	/** Fails `invalid-input` for an `after` that is not from a page. */
	list(query: ListQuery): Promise<SessionPage>;
	/** Ends what the store holds apart from its sessions, which are closed before. */
	close(): Promise<void>;
}
