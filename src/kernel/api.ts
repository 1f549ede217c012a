// The kernel API: the interfaces between front ends and kernel. Front ends import nothing else of the kernel. It is one file
// whatever its length, so that all they may rely on can be read in one place.

import type { CommandOf, CommandType, CommandValues } from "../api/commands.ts";
import type { UserInput } from "../api/values/content.ts";
import type { HistoryEntry } from "../api/values/conversation.ts";
import type { AgentEvent, Cursor } from "../api/values/event.ts";
import type { ForkedSession } from "../api/values/file-changes.ts";
import type { SessionHook } from "../api/values/hooks/session-hook.ts";
import type { SessionMode } from "../api/values/session-mode.ts";
import type { TurnOptions, TurnOptionsChange, TurnStartOptions } from "../api/values/turn-options.ts";
import type { ClientHook, CommandHook } from "../core/hooks/hook.ts";
import type { ThinkingBudgets } from "../core/models/thinking-budgets.ts";
import type { WhenUnattended } from "../core/permissions/modes.ts";
import type { ClientCapability, JsonSchema } from "../core/tools/tool.ts";
import type { EditorFiles } from "../ports/files/editor-files.ts";
import type { ListQuery, Placement, SessionPage } from "../ports/store/session-store.ts";
import type { ModelPrice } from "../settings/config/configuration.ts";
import type { McpServerSettings } from "../settings/config/mcp-servers.ts";
import type { BudgetOptions } from "./budgets/budget-options.ts";
import type { UnfinishedPart } from "./clients/emitter.ts";
import type { Flow } from "./clients/event-feed.ts";
import type { SlashCommandInfo } from "./commands/command.ts";
import type { ToolScope } from "./compose/agent-restriction.ts";

export type { EditorFiles, McpServerSettings, ToolScope, TurnOptions, TurnOptionsChange, TurnStartOptions };

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
	/** Brings an archived session back. Nothing happens to one that is not archived. */
	unarchive(id: string): Promise<void>;
	/**
	 * Deletes a session for good, archived or not: ends its turn and background work, unloads it, and removes its files.
	 * Idempotent. Fails `busy` while another process has it open.
	 */
	delete(id: string): Promise<void>;
	/** Stops every session; running turns end as cancelled. */
	stop(): Promise<void>;
}

export type { ModelPrice };

/** A skill that a person can choose. */
export interface SkillInfo {
	readonly name: string;
	/** One line. */
	readonly description: string;
	readonly scope: "project" | "user" | "extra" | "built-in";
}

/** A configured model that a person can choose. */
export interface ModelOption {
	/** Its key in the settings. */
	readonly alias: string;
	/** Display name, or the name sent to the provider. */
	readonly name: string;
	readonly provider: string;
	/** Context window in tokens. */
	readonly maxContextSize: number;
	/** Whether it reasons: always, never, or by choice. */
	readonly thinking: "always" | "never" | "optional";
	/** The range of reasoning tokens a request may set; absent if requests cannot. */
	readonly thinkingBudgets?: ThinkingBudgets;
	/** Accepted inputs besides text. */
	readonly accepts: { readonly image: boolean; readonly audio: boolean; readonly video: boolean };
	/** Null if the settings do not say. */
	readonly price: ModelPrice | null;
}

/** The model that a session uses. */
export interface ModelChoice {
	/** Its key in the settings; null if they do not list it. */
	readonly alias: string | null;
	/** Display name, or the name sent to the provider. */
	readonly name: string;
	/** The provider's key; empty for none. */
	readonly provider: string;
	readonly thinking: boolean;
}

/** The configured models, in order. */
export interface ModelList {
	readonly options: readonly ModelOption[];
	/** The alias that a new session would use, if any. */
	readonly chosen: string | null;
}

/** Identifies a stored session without a disk access. */
export interface StoredId {
	readonly id: string;
	/** Absolute. */
	readonly workDir: string;
}

/** What is known of a session without loading it. */
export interface SessionInfo {
	readonly id: string;
	/** Absolute. */
	readonly workDir: string;
	/** The name sent to the provider, and the provider's key; empty for none. */
	readonly model: string;
	readonly provider: string;
	readonly isRunning: boolean;
	/** Whether an approval or question is open. */
	readonly isWaiting: boolean;
	/** Whether its last turn ended in an error; absent if not, and where that is not known. */
	readonly hasFailed?: boolean;
	/** Empty if it was created without labels. */
	readonly labels: Readonly<Record<string, string>>;
	/** Absent if it was created without. */
	readonly stagedInput?: UserInput;
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

/** Given each time a session is opened. Servers and environment are never stored, since they may contain keys. */
export interface OpeningOptions {
	/** MCP servers in place of the process's. */
	readonly mcpServers?: readonly McpServerSettings[];
	/** Additional MCP servers; they override others of the same name. */
	readonly addedMcpServers?: readonly McpServerSettings[];
	/** Workspace text files as the client's editor has them. Only used in the session's process, never over a connection. */
	readonly editorFiles?: EditorFiles;
	/** Added to the process's environment: for tools, hooks and MCP servers, and for choosing the model. */
	readonly environment?: Readonly<Record<string, string>>;
	/** Whether `environment` replaces the process's. */
	readonly isWholeEnvironment?: boolean;
	/** Further workspace roots: absolute paths of directories. Stored with the session. */
	readonly additionalDirs?: readonly string[];
	/** The tools for a stored session without creation options, such as one of print mode. Only for this opening. */
	readonly defaultTools?: ToolScope;
	/** Also opens an archived session, for reading only. */
	readonly archived?: boolean;
	/** Additional permission rules. Only for this opening. */
	readonly rules?: readonly AddedRule[];
	/** Whether a prompt with an unknown slash command goes to the model instead of failing. Only for this opening. */
	readonly passesUnknownCommands?: boolean;
	/** Maximum model calls per turn, in place of the session's own. Only for this opening. */
	readonly maxSteps?: number | null;
}

/** A rule as the settings have it: `pattern` is such as `Shell(git status:*)`. */
export interface AddedRule {
	readonly decision: "allow" | "ask" | "deny";
	readonly pattern: string;
}

export interface ForkOptions {
	/** The fork's id: a UUID that is not in use. Absent to generate one. */
	readonly id?: string;
	/** Absent to copy everything. */
	readonly cut?: ForkCut;
	/** Keeps what was before this turn, in place of `cut`. */
	readonly before?: string;
	/** Absent to work in the same directory. */
	readonly files?: ForkFiles;
	/** The session's expected work directory; fails `invalid-input` if it differs. */
	readonly workDir?: string;
	/**
	 * Whether the first caller to acquire the fork provides its opening options. If absent, it inherits the original's: the added
	 * directories and, if loaded, its environment and MCP servers, which are not stored.
	 */
	readonly isOpenedAnew?: boolean;
}

/** A work directory of its own for a fork, with a copy of the files. */
export interface ForkFiles {
	/** Absolute; missing or empty. */
	readonly directory: string;
	/** Whether to register it as a git worktree. Consents to writing in the repository's `.git`; nothing else does. */
	readonly worktree?: boolean;
}

/** The beginning of a session. */
export interface ForkCut {
	/** How many messages to keep; the system prompt does not count and stays. */
	readonly messages: number;
	/** Replaces the message after them. */
	readonly replacement?: HistoryEntry;
}

/** A session's initial modes; absent ones come from the process and its settings. */
export interface StartingMode {
	readonly planMode?: boolean;
	/** Whether everything is approved without asking. */
	readonly approvesEverything?: boolean;
	/** Whether nobody is at the keyboard. */
	readonly isAway?: boolean;
}

/** What a session may do without asking. */
export interface PermissionOptions {
	/**
	 * What to do with a call that needs approval while no client answers approvals; absent for the setting. `creator` approves it
	 * as the creator's decision, unless the settings reject all such calls.
	 */
	readonly whenUnattended?: WhenUnattended;
	/** Session approvals from the start: rule patterns such as `Shell(git status:*)`. */
	readonly grants?: readonly string[];
}

/** A new session's options, fixed for its lifetime. Null or absent leaves the choice to the process and its settings. */
export interface CreationOptions extends OpeningOptions {
	/** A UUID, `invalid-input` if it is not one or in use. Absent to generate one. */
	readonly id?: string;
	/** An absolute path. */
	readonly workDir?: string;
	/** Which workers may run it. Fails `unsupported` if sessions are stored on one machine's disk. */
	readonly placement?: Placement;
	/** A built-in agent's name, or an agent file's absolute path. */
	readonly agent?: string;
	readonly mode?: StartingMode;
	readonly permissions?: PermissionOptions;
	/** An alias, or the provider's name for the model. */
	readonly model: string | null;
	/** A provider's key, type or vendor. */
	readonly provider: string | null;
	/** Whether the model reasons, if it can; absent for the setting. */
	readonly thinking?: boolean;
	/** Maximum tokens per answer. */
	readonly maxAnswerTokens: number | null;
	/** Maximum model calls per turn. */
	readonly maxSteps: number | null;
	/** Replaces the agent's. */
	readonly systemPrompt: string | null;
	readonly tools: ToolScope;
	readonly budgets: BudgetOptions;
	/** The client's labels, for finding the session. */
	readonly labels?: Readonly<Record<string, string>>;
	/** Appended to the system prompt. */
	readonly instructions?: readonly string[];
	/** Default options of its turns. */
	readonly turns?: TurnOptions;
	/** Hooks in addition to the settings'. */
	readonly hooks?: readonly SessionHook[];
	/** Stored until the first turn, which may begin in any process. */
	readonly stagedInput?: UserInput;
}

export type McpServersChange =
	/** Replaces one of the same name. */
	| { readonly kind: "add"; readonly server: McpServerSettings }
	/** Idempotent. */
	| { readonly kind: "remove"; readonly name: string }
	/** Restarts this server, or all. */
	| { readonly kind: "reload"; readonly name: string | null };

/** An outside event, as stored by `notification.add`. */
export interface ExternalEvent {
	readonly id: string;
	readonly kind: string;
	readonly input: UserInput;
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

export interface SessionDescription {
	/** The commands that a prompt can invoke. */
	readonly slashCommands: readonly SlashCommandInfo[];
	/** The hooks of the settings, which run whether or not a client subscribes. */
	readonly commandHooks: readonly CommandHook[];
	/** The models that it can use. */
	readonly models: readonly ModelOption[];
	/** The available modes: not those that settings forbid, nor plan mode if the agent has no tools for it. */
	readonly modes: readonly SessionMode[];
	/** Null if the settings ask for none. */
	readonly sandbox: SandboxDescription | null;
}

/** Whether commands run in the sandbox that the settings ask for. */
export interface SandboxDescription {
	readonly status: "active" | "none";
	/** Why this machine has no sandbox, as a clause without full stop; null if it is active. */
	readonly why: string | null;
}

/** A session's state at one moment. */
export interface SessionSnapshot {
	readonly sessionId: string;
	readonly workDir: string;
	/** The running turn; null when idle. */
	readonly turnId: string | null;
	/** Whether it was loaded from disk or has had a turn. */
	readonly hasHistory: boolean;
	/** The last durable event delivered to clients; later events follow this snapshot. */
	readonly cursor: Cursor;
	readonly planMode: boolean;
	/** Whether everything is approved without asking, and whether nobody is at the keyboard. */
	readonly approvesEverything: boolean;
	readonly isAway: boolean;
	/** The next turn's model, if any. */
	readonly model: ModelChoice | null;
	/** The reasoning token limit that a client chose, if any. */
	readonly thinkingBudget: number | null;
	/** The title that a person or the first answered input gave it, if any. */
	readonly title: string | null;
	/** Open requests as they were delivered, oldest first. */
	readonly openInteractions: readonly AgentEvent[];
	/** What the running turn has delivered of incomplete texts and calls, and the last 64 KiB of each running call's progress. */
	readonly unfinished: readonly UnfinishedPart[];
	readonly clients: readonly AttachedClient[];
}

/** A client that is attached to a session. */
export interface AttachedClient {
	readonly clientId: string;
	readonly name: string | null;
	readonly version: string | null;
}

/** What a client provides when it attaches. */
export interface AttachOptions {
	readonly client: { readonly name: string; readonly version: string | null } | null;
	/** Its tools; the last one of a name wins. */
	readonly tools: readonly ClientToolDeclaration[];
	readonly capabilities: readonly ClientCapability[];
	/** Whether the client answers approvals. Default: true. */
	readonly approves?: boolean;
	/** Whether it expects to be asked about read-only commands too. Default: false. */
	readonly expectsQuestions?: boolean;
	/** The hooks it subscribes to; null if its handshake did not mention hooks. */
	readonly hooks: readonly ClientHook[] | null;
	/** The same client's earlier attachment, which this one replaces: its requests stay open. */
	readonly replaces?: string;
	/**
	 * The last event that the client has. The stored events after it come first, or, if its history was rewritten, a
	 * `session.reset` and all events. Absent for only new events.
	 */
	readonly after?: Cursor;
	/**
	 * If the client does not read: with `blocking` (the default) the model waits for it; with `droppable` it loses volatile
	 * events, and reads durable ones at its own pace.
	 */
	readonly flow?: Flow;
	/**
	 * Whether the client gets running tool calls' output (`tool.progress`), which is only produced if some client wants it.
	 * Default: false.
	 */
	readonly wantsProgress?: boolean;
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
	/** Detaches the client; the session goes on. */
	close(): void;
}

/** A client's tool; `parameters` is a JSON Schema (draft 2020-12). */
export interface ClientToolDeclaration {
	readonly name: string;
	readonly description: string;
	readonly parameters: JsonSchema;
}

export interface AttachedTools {
	readonly accepted: readonly string[];
	readonly rejected: readonly { readonly name: string; readonly reason: string }[];
}

/** What the model sees of the session; the system prompt is null before the first turn. */
export interface MessageHistory {
	readonly systemPrompt: string | null;
	readonly messages: readonly HistoryEntry[];
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
