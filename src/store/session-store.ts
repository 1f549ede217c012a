// The contract of stored sessions for the kernel. Two implementations: on disk in the Kimi layout, and in memory.
// Everything written is in the file before the promise resolves; `sync` puts it on stable storage.
import type { Todo } from "../events/content.ts";
import type { ContextRow } from "../events/conversation.ts";
import type { AgentEvent } from "../events/event.ts";
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
}

/** A row of the call journal: the intents and decisions that must survive a crash. */
export type CallRecord =
	| { readonly type: "asked"; readonly interactionId: string; readonly toolCallId: string; readonly action: string }
	| {
			readonly type: "decided";
			readonly interactionId: string | null;
			readonly toolCallId: string;
			readonly action: string;
			readonly decision: "approve" | "approve_for_session" | "reject";
			/** A person, or the rule that decided instead. */
			readonly by: "person" | "rule" | "session-approval" | "yolo";
	  }
	| { readonly type: "started"; readonly toolCallId: string; readonly name: string; readonly arguments: string | null }
	/** The context has the unknown outcome of a call that a crash interrupted; the person has not been informed yet. */
	| { readonly type: "recovered"; readonly toolCallId: string }
	| { readonly type: "finished"; readonly toolCallId: string; readonly isError: boolean }
	/** What the session has consumed since its beginning. */
	| ({ readonly type: "used" } & SessionUse);

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
	appendContext(rows: readonly ContextRow[]): Promise<void>;
	replaceContext(rows: readonly ContextRow[]): Promise<void>;
	/** Appends those events of the subagent that are logged. */
	appendEvents(events: readonly AgentEvent[]): Promise<void>;
	/** Appends the result of a run to the text for people; earlier ones stay. */
	appendOutput(text: string): Promise<void>;
}

/** The files of one session, which has one owner. Calls on one log are serialized. */
export interface StoredSession {
	readonly id: string;
	readonly workDir: string;
	/** Null for sessions in memory. */
	readonly directory: string | null;
	/** Whether it existed before, with a context. */
	readonly existed: boolean;
	/** The rows when it was opened; invalid ones were skipped and logged. */
	readonly contextRows: readonly ContextRow[];
	readonly unfinishedCalls: readonly UnfinishedCall[];
	/** What it had consumed when it was opened, as far as that was stored. */
	readonly used: SessionUse;
	state(): SessionState;
	/** Preserves what another process changed in title and archive fields. */
	updateState(change: Partial<SessionState>): Promise<void>;

	appendContext(rows: readonly ContextRow[]): Promise<void>;
	/**
	 * Replaces the whole context atomically; on disk a copy of the old one stays. All of it is on stable storage when
	 * the promise resolves.
	 */
	replaceContext(rows: readonly ContextRow[]): Promise<void>;
	/** Appends those events that are logged; others are ignored. */
	appendEvents(events: readonly AgentEvent[]): Promise<void>;
	appendCalls(records: readonly CallRecord[]): Promise<void>;
	/** Puts everything appended so far on stable storage. */
	sync(): Promise<void>;
	/** The files of a subagent, new or existing. */
	createAgent(description: AgentDescription): Promise<StoredAgent>;
	/** The subagent of this id; null when there is none. */
	openAgent(id: string): Promise<StoredAgent | null>;
	/** Its background tasks. */
	readonly tasks: StoredTasks;
	readonly notifications: StoredNotifications;
	/** The logged events from the first, read lazily. */
	events(): AsyncIterable<AgentEvent>;
	/** Called when the first turn begins: makes the session the work dir's last one. */
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

export interface SessionSummary {
	readonly id: string;
	readonly workDir: string;
	readonly title: string;
}

export interface SessionStore {
	/** Opens the session, or creates one with this id. Never refuses an id that exists. */
	openOrCreate(workDir: string, id: string): Promise<StoredSession>;
	/** Null when there is no such session with a context or a valid event in its log. */
	open(workDir: string, id: string): Promise<StoredSession | null>;
	/**
	 * The current rows of a session's context, read only: nothing is taken over, created or changed, and another
	 * process may be writing the session meanwhile. Null when there is no such session.
	 */
	readContext(workDir: string, id: string): Promise<readonly ContextRow[] | null>;
	/** The session that `--continue` names; null when there is none. */
	lastSessionId(workDir: string): Promise<string | null>;
	/** The work dir of an existing session; null when it is in no known one. */
	workDirOf(id: string): Promise<string | null>;
	/** The non-empty sessions of a work dir, newest first. */
	list(workDir: string): Promise<SessionSummary[]>;
}
