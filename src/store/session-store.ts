// What the kernel needs of stored sessions. Two implementations: on disk in the Kimi layout, and in memory.
// Everything written is in the file before the promise resolves; `sync` puts it on stable storage.
import type { Todo } from "../events/content.ts";
import type { ContextRow } from "../events/conversation.ts";
import type { AgentEvent } from "../events/event.ts";
import type { StoredNotifications, StoredTasks } from "./stored-tasks.ts";

/** What a session remembers beside its context; the fields of `state.json`. */
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
	/** When it was put out of sight, in seconds since the epoch; null when it was not. */
	readonly archivedAt: number | null;
	/** What was asked for when it was made, in the words of whoever keeps it; null when that was not kept. */
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
			/** A person, or the rule that decided in their place. */
			readonly by: "person" | "rule" | "session-approval" | "yolo";
	  }
	| { readonly type: "started"; readonly toolCallId: string; readonly name: string; readonly arguments: string | null }
	/** The unknown outcome of a call that a crash interrupted is in the context; the person is still to be told. */
	| { readonly type: "recovered"; readonly toolCallId: string }
	| { readonly type: "finished"; readonly toolCallId: string; readonly isError: boolean }
	/** What the session has used from its beginning. */
	| ({ readonly type: "used" } & SessionUse);

/** What the budgets of a session are held against: tokens, time of its turns, and tool calls, in all. */
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

/** What a subagent is. `createdAt` is milliseconds since the epoch. */
export interface AgentDescription {
	readonly id: string;
	readonly type: string;
	readonly description: string;
	readonly createdAt: number;
	/** The model alias asked for, and the one used; null for the session's own. */
	readonly modelOverride: string | null;
	readonly effectiveModel: string | null;
}

/** One subagent's files, in its session's. */
export interface StoredAgent {
	readonly description: AgentDescription;
	readonly contextRows: readonly ContextRow[];
	/** Keeps the prompt and marks the subagent as running: in the background when it is a task's, else for its caller. */
	begin(prompt: string, taskId?: string): Promise<void>;
	setStatus(status: AgentStatus): Promise<void>;
	appendContext(rows: readonly ContextRow[]): Promise<void>;
	replaceContext(rows: readonly ContextRow[]): Promise<void>;
	/** Appends the events of the subagent that its log keeps. */
	appendEvents(events: readonly AgentEvent[]): Promise<void>;
	/** Adds to the text for people what came of a run; what came of earlier ones stays. */
	appendOutput(text: string): Promise<void>;
}

/** One session's files, held by one owner. Calls on one log are carried out in order. */
export interface StoredSession {
	readonly id: string;
	readonly workDir: string;
	/** Null for sessions in memory. */
	readonly directory: string | null;
	/** Whether it was there before, with a context. */
	readonly existed: boolean;
	/** The rows there were when it was opened; what could not be read was skipped and logged. */
	readonly contextRows: readonly ContextRow[];
	readonly unfinishedCalls: readonly UnfinishedCall[];
	/** What it had used when it was opened, as far as that was kept. */
	readonly used: SessionUse;
	state(): SessionState;
	/** Keeps what another process changed in title and archive fields. */
	updateState(change: Partial<SessionState>): Promise<void>;

	appendContext(rows: readonly ContextRow[]): Promise<void>;
	/**
	 * Puts the rows in place of the whole context at once; on disk a copy of what was there is kept. All of it is on
	 * stable storage when the promise resolves.
	 */
	replaceContext(rows: readonly ContextRow[]): Promise<void>;
	/** Appends the events that the log keeps; others are passed over. */
	appendEvents(events: readonly AgentEvent[]): Promise<void>;
	appendCalls(records: readonly CallRecord[]): Promise<void>;
	/** Puts everything appended so far on stable storage. */
	sync(): Promise<void>;
	/** The files of a subagent, new or known. */
	createAgent(description: AgentDescription): Promise<StoredAgent>;
	/** The subagent of this id; null when there is none. */
	openAgent(id: string): Promise<StoredAgent | null>;
	/** Its background work. */
	readonly tasks: StoredTasks;
	readonly notifications: StoredNotifications;
	/** The logged events from the first, read as they are asked for. */
	events(): AsyncIterable<AgentEvent>;
	/** Called when the first turn begins: makes the session the work dir's last one. */
	markStarted(): Promise<void>;
	/** Makes it one that is there, although nothing has happened in it: on stable storage, and not deleted when closed. */
	establish(): Promise<void>;
	/**
	 * Ends ownership. An empty session (no title, no event, no message) is deleted unless somebody prepared it;
	 * another one becomes the work dir's last one, unless it is said not to.
	 */
	close(options?: { readonly becomesLast?: boolean }): Promise<void>;
}

export interface SessionSummary {
	readonly id: string;
	readonly workDir: string;
	readonly title: string;
}

export interface SessionStore {
	/** Opens the session, or makes one with this id when there is none. Never refuses an id that exists. */
	openOrCreate(workDir: string, id: string): Promise<StoredSession>;
	/** Null when there is no such session: none with a context, and none whose log says anything. */
	open(workDir: string, id: string): Promise<StoredSession | null>;
	/**
	 * The rows of a session's context as they are now, for whoever only looks: nothing is taken over, made or changed, and
	 * another process may be writing the session meanwhile. Null when there is no such session.
	 */
	readContext(workDir: string, id: string): Promise<readonly ContextRow[] | null>;
	/** The session that `--continue` names; null when there is none. */
	lastSessionId(workDir: string): Promise<string | null>;
	/** The work dir of a session that is there, whichever it is; null when no known one has it. */
	workDirOf(id: string): Promise<string | null>;
	/** The non-empty sessions of a work dir, newest first. */
	list(workDir: string): Promise<SessionSummary[]>;
}
