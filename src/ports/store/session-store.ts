// The interface of all stores (disk, memory, PostgreSQL). A resolved commit survives the process's end, and with `sync` a power loss.

import type { ListQuery, Placement, SessionPage } from "../../api/session-list.ts";
import type { Todo, UserInput } from "../../api/values/content.ts";
import type { ContextChange, ContextRow } from "../../api/values/conversation.ts";
import type { AgentEvent, Cursor } from "../../api/values/event.ts";
import { KernelError } from "../../base/errors.ts";
import type { HistoryPlace } from "../workspace/history-place.ts";
import type { StoredNotifications, StoredTasks } from "./stored-tasks.ts";

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
	readonly archivedAt: number | null;
	/** Creation options, in the format of the host that stores them; null if none. */
	readonly creationOptions: unknown;
	/** The session it was forked from; null if it began empty. */
	readonly forkedFrom: string | null;
}

export interface SessionUse {
	readonly tokens: number;
	readonly milliseconds: number;
	readonly toolCalls: number;
}

export const nothingUsed: SessionUse = { tokens: 0, milliseconds: 0, toolCalls: 0 };

/** A call found started and unfinished when the session was opened. */
export interface UnfinishedCall {
	readonly toolCallId: string;
	readonly name: string;
	readonly arguments: string | null;
	/** Whether the context already contains its unknown outcome. */
	readonly isRecovered: boolean;
}

export type AgentStatus = "idle" | "running_foreground" | "running_background" | "completed" | "failed" | "killed";

/** `createdAt` is milliseconds since the epoch. */
export interface AgentDescription {
	readonly id: string;
	readonly type: string;
	readonly description: string;
	readonly createdAt: number;
	/** The requested model alias and the effective one; null for the session's model. */
	readonly modelOverride: string | null;
	readonly effectiveModel: string | null;
}

export interface StoredAgent {
	readonly description: AgentDescription;
	readonly contextRows: readonly ContextRow[];
	/** Stores the prompt and marks the subagent as running: in the background with a task id, otherwise for its caller. */
	begin(prompt: string, taskId?: string): Promise<void>;
	setStatus(status: AgentStatus): Promise<void>;
	changeContext(change: ContextChange): Promise<void>;
	appendEvents(events: readonly AgentEvent[]): Promise<void>;
	/** Appends a run's result to the readable output; keeps earlier ones. */
	appendOutput(text: string): Promise<void>;
}

/** Changes stored atomically: a crash leaves all of them or none. */
export interface Batch {
	/** Durable events get the next numbers in this order; volatile ones are not stored. */
	readonly events?: readonly AgentEvent[];
	readonly context?: ContextChange;
	/** Preserves other processes' changes to title and archive fields. */
	readonly state?: Partial<SessionState>;
}

export interface CommitOptions {
	/** Whether the batch and everything before it must be on stable storage, to survive a power loss. */
	readonly sync?: boolean;
	/** For a change that nobody sees before the next commit, with which it may be stored. Failures show in later commits. */
	readonly withNext?: boolean;
	/** For a state change on opening: a read-only session stores it with its first commit after a claim. */
	readonly whenClaimed?: boolean;
}

/** The history's content when a session is opened. */
export interface JournalSummary {
	readonly used: SessionUse;
	readonly unfinishedCalls: readonly UnfinishedCall[];
	/** Events of an interrupted main-agent step that are missing from the context: model output, requested calls, and results. */
	readonly unretained: readonly AgentEvent[];
	/** Whether the main agent is in a step whose answer is missing from its context. */
	readonly isInStep: boolean;
	/** The turn without a recorded end; null if the last turn has one. */
	readonly openTurn: string | null;
	/** Inputs of turns with neither a step nor an end, oldest first: their messages may be missing from the context. */
	readonly startedInputs: readonly StartedInput[];
	/** Inputs added to the unfinished turn that are missing from its context, oldest first. */
	readonly waitingSteers: readonly StartedInput[];
	/** The turns started with a key, oldest first; at most the last `turnKeyLimit`. */
	readonly keyedTurns: readonly KeyedTurn[];
}

/** How many turn keys a session remembers: each journal summary contains them. */
export const turnKeyLimit = 64;

export interface StartedInput {
	readonly turnId: string;
	readonly input: UserInput;
}

export interface KeyedTurn {
	readonly key: string;
	readonly turnId: string;
	/** A digest of its input: equal inputs have equal digests. */
	readonly digest: string;
}

/** One stored session with one owner. Its journal is authoritative. */
export interface StoredSession {
	readonly id: string;
	readonly workDir: string;
	/** The local directory for its files, or for background command files; null if none. */
	readonly directory: string | null;
	/** Whether it existed before, with a context. */
	readonly existed: boolean;
	/** The rows at opening; invalid ones were skipped and logged. Parsed on first use. */
	readonly contextRows: readonly ContextRow[];
	/** Identifies the stored content at opening: a session with the same object is unchanged. Absent if unknown. */
	readonly reading?: object;
	/** As of its opening. */
	readonly summary: JournalSummary;
	/** The position of the newest durable event. */
	cursor(): Cursor;
	state(): SessionState;
	/** Stores the batch after all earlier ones. On `storage-failed` nothing of it is stored; permanent after a takeover. */
	commit(batch: Batch, options?: CommitOptions): Promise<readonly AgentEvent[]>;
	/** Numbered durable events after this number, read lazily in batches, without those committed meanwhile. */
	events(after?: number): AsyncIterable<readonly AgentEvent[]>;
	/** Resolves with the reason if another process has taken over the session; nothing can be stored after that. */
	readonly lost: Promise<KernelError>;
	/** Checks whether the session is still held; absent if that is known without a check. */
	isHeld?(): Promise<boolean>;
	createAgent(description: AgentDescription): Promise<StoredAgent>;
	openAgent(id: string): Promise<StoredAgent | null>;
	readonly tasks: StoredTasks;
	readonly notifications: StoredNotifications;
	/** Where its file history is saved for other machines; absent if the directory is enough. */
	readonly historyPlace?: HistoryPlace | undefined;
	/** Prepares the first write, without leaving traces of the session. Absent if there is nothing to prepare. */
	warmUp?(): Promise<void>;
	/** Makes it the last session of its work directory when a turn starts, possibly a second later. */
	markStarted(): Promise<void>;
	/** Persists the session without any activity: it is on stable storage, and not deleted when closed. */
	establish(): Promise<void>;
	/** Deletes an empty session unless it was prepared; any other becomes the last one, unless `becomesLast` is false. */
	close(options?: { readonly becomesLast?: boolean }): Promise<void>;
}

/** A read-only session as stored at opening: every write fails, and closing it leaves nothing. */
export interface SessionView extends StoredSession {
	isCurrent(): Promise<boolean>;
}

/** For single-machine stores. */
export function refusePlacement(placement: Placement | undefined): void {
	if (placement === undefined) return;
	throw new KernelError(
		"unsupported",
		"owner and needs choose between the workers of a store in PostgreSQL; this store serves one machine.",
	);
}

export interface SessionOwner {
	readonly name: string;
	/** Its id, if it is another process on this machine that can be reached from here; else null. */
	readonly pid: number | null;
}

export interface SessionStore {
	/** Never refuses an existing id. Single-machine stores fail `unsupported` for a placement. */
	openOrCreate(workDir: string, id: string, placement?: Placement): Promise<StoredSession>;
	/** Creates the session atomically with the content from `fill`. Fails `busy` if the id exists. */
	create(workDir: string, id: string, fill: (session: StoredSession) => Promise<void>, like?: string): Promise<void>;
	/** Null without a context or event. `from` limits takeover: from dead processes (else `busy`), or from any. */
	open(workDir: string, id: string, from?: "ended" | "anyone", view?: SessionView): Promise<StoredSession | null>;
	view(workDir: string, id: string): Promise<SessionView | null>;
	/** The living process that has it open for writing; null if none is known. */
	owner(workDir: string, id: string): Promise<SessionOwner | null>;
	/** The current rows, without taking over, even while another process writes. Null if there is no session. */
	readContext(workDir: string, id: string): Promise<readonly ContextRow[] | null>;
	/** The stored events, read-only as in `readContext`; empty without a session. */
	readEvents(workDir: string, id: string): AsyncIterable<readonly AgentEvent[]>;
	/** The session that `--continue` resumes; null if none. */
	lastSessionId(workDir: string): Promise<string | null>;
	/** The work directory of an existing session; null if not found in any known one. */
	workDirOf(id: string): Promise<string | null>;
	/** Idempotent. Fails `busy` while it is open, `storage-failed` if it cannot be removed. */
	delete(workDir: string, id: string): Promise<void>;
	/** Fails `invalid-input` for an `after` that is not from a page. */
	list(query: ListQuery): Promise<SessionPage>;
	close(): Promise<void>;
}
