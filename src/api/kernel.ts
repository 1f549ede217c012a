// The kernel API: the interfaces between front ends and kernel. Front ends rely on nothing else of the kernel; what a session is
// asked for is in commands.ts.

import type { CommandOf, CommandType, CommandValues } from "./commands.ts";
import type { ModelList } from "./models.ts";
import type { ListQuery, SessionPage } from "./session-list.ts";
import type { AttachOptions, CreationOptions, ForkOptions, OpeningOptions } from "./session-options.ts";
import type {
	AttachedTools,
	MessageHistory,
	SessionInfo,
	SessionSnapshot,
	SkillInfo,
	StoredId,
} from "./session-state.ts";
import type { UserInput } from "./values/content.ts";
import type { AgentEvent, Cursor } from "./values/event.ts";
import type { ForkedSession } from "./values/file-changes.ts";
import type { TurnStartOptions } from "./values/turn-options.ts";

/** The sessions of a process that serves many. Every method fails with a KernelError. */
export interface SessionsApi {
	/** Whether sessions can use an editor's files: only if kernel and front end share a process. */
	readonly takesEditorFiles: boolean;
	/**
	 * Creates a session. Fails `model-not-set` for an unknown model, `invalid-input` for a missing directory or agent,
	 * `overloaded` if too many sessions are in use.
	 */
	create(options: CreationOptions): Promise<SessionHandle>;
	/**
	 * The session with this id, loaded from disk if necessary, whatever its work directory. Fails `session-not-found`. `options`
	 * apply if this process loads it for the first time.
	 */
	acquire(id: string, options?: OpeningOptions): Promise<SessionHandle>;
	/**
	 * Creates a session from a copy of this one, or of its beginning, and returns its id. Stored as a whole or not at all. Fails
	 * `session-not-found`, `busy` while a turn runs, `invalid-input` if it cannot be cut there.
	 */
	fork(id: string, options?: ForkOptions): Promise<ForkedSession>;
	/** Sessions created or opened here that are not archived, oldest first. */
	loaded(): Promise<readonly SessionInfo[]>;
	/** All stored sessions, a page at a time. */
	list(query: ListQuery): Promise<SessionPage>;
	/** The stored events of a session, read only: it is not opened, and another process may be using it. */
	storedEvents(session: StoredId): AsyncIterable<readonly AgentEvent[]>;
	/** The models that sessions can use, regardless of variables that a session adds to the environment. */
	models(): Promise<ModelList>;
	/** The skills of the process's work directory, by name. */
	skills(): Promise<readonly SkillInfo[]>;
	/** A skill's whole text; null if it does not exist or cannot be read. */
	skillText(name: string): Promise<string | null>;
	/** Cancels the running turn; false if none runs. Fails `session-not-found`. */
	interrupt(id: string): Promise<boolean>;
	/**
	 * Unloads a session without clients and background work, to free its resources. It can be acquired again with other options; a
	 * session without history disappears. Does nothing for any other session.
	 */
	unload(id: string): Promise<void>;
	/** Archives a session: cancels its turn, waits for its end, and hides the session. Its files stay. */
	archive(id: string): Promise<void>;
	/** Restores an archived session. Idempotent. */
	unarchive(id: string): Promise<void>;
	/**
	 * Permanently deletes a session, archived or not: ends its turn and background work, unloads it, and removes its files.
	 * Idempotent. Fails `busy` while another process has it open.
	 */
	delete(id: string): Promise<void>;
	/** Stops every session; running turns end as cancelled. */
	stop(): Promise<void>;
}

/** A client's use of a session, which stays loaded until released. */
export interface SessionHandle {
	/** The same object for all handles while the session stays loaded. */
	readonly session: SessionApi;
	readonly info: SessionInfo;
	/**
	 * Starts a turn. Fails `busy`, and `overloaded` when too many run. With a key it resolves once the beginning is stored, and
	 * the same key returns the same turn again, in any process; fails `invalid-input` for another input under that key.
	 */
	startTurn(input: UserInput, options?: TurnStartOptions): Promise<{ readonly turnId: string }>;
	/** Call it once. */
	release(): void;
	/** Removes a session whose first turn could not begin. Replaces `release`. */
	discard(): Promise<void>;
}

/** One session: commands in, events out, one turn at a time. */
export interface SessionApi extends FaultOwner {
	readonly id: string;
	/** Absolute. */
	readonly workDir: string;
	/** Executes a command. Fails with a KernelError. */
	send<T extends CommandType>(command: CommandOf<T>): Promise<CommandValues[T]>;
	/** Attaches a client. It gets the events that follow the attachment's snapshot. */
	attach(options: AttachOptions): Promise<Attachment>;
	snapshot(): Promise<SessionSnapshot>;
	/** The conversation so far, as the model sees it. */
	conversation(): Promise<MessageHistory>;
	/**
	 * The stored events after this cursor, or all. Fails `invalid-input` for a cursor of a rewritten history. They come in batches
	 * as they are read; a batch may be empty.
	 */
	events(after?: Cursor): AsyncIterable<readonly AgentEvent[]>;
	/** Ends the running turn as cancelled, settles every interaction and ends the clients' events. Idempotent. */
	stop(): Promise<void>;
}

/** A client's attachment to a session. */
export interface Attachment {
	/** The client's name within the session. */
	readonly id: string;
	/**
	 * The session when the client attached. Show its open interactions to the client: they also come as events only if it gave an
	 * older cursor.
	 */
	readonly snapshot: SessionSnapshot;
	/** The names of its tools that the model is offered, and the refused ones with reasons. */
	readonly tools: AttachedTools;
	/** Batches of events, so that one write can serve many. Ends after `close` and when the session closes. */
	readonly events: AsyncIterable<readonly AgentEvent[]>;
	/** Resolves once the reader has consumed all events delivered so far. */
	drained(): Promise<void>;
	/** Detaches the client; the session continues. */
	close(): void;
}

export interface SettingsDocuments {
	/** The document with this name, such as `.rkat/config.toml`. */
	find(name: string): SettingsDocument;
}

export interface SettingsDocument {
	/** Empty if there is no file. Fails `storage-failed` if it cannot be read. */
	read(): Promise<Readonly<Record<string, unknown>>>;
	/**
	 * Replaces the document by the result of `change`, after all earlier updates; resolves with the new content once it is on
	 * disk. If `change` throws, nothing changes. Unchanged parts keep their text, comments included.
	 */
	update(
		change: (current: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>,
	): Promise<Readonly<Record<string, unknown>>>;
}

/** What owns the work that an uncaught exception ends. */
export interface FaultOwner {
	/** Ends its running work with this error, reported as our bug rather than the client's error. */
	fail(thrown: unknown): void;
}
