// The kernel API: the surface between front ends and kernel, as interfaces. Front ends import nothing else of the kernel:
// it is one file, whatever its length, so that everything they may rely on can be read in one place.

import type { Command, CommandType, CommandValues } from "../api/values/command.ts";
import type { UserInput } from "../api/values/content.ts";
import type { HistoryEntry } from "../api/values/conversation.ts";
import type { AgentEvent, Cursor } from "../api/values/event.ts";
import type { SessionHook } from "../api/values/hooks/session-hook.ts";
import type { SessionMode } from "../api/values/session-mode.ts";
import type { TurnOptions, TurnOptionsChange, TurnStartOptions } from "../api/values/turn-options.ts";
import type { ClientHook, CommandHook } from "../core/hooks/hook.ts";
import type { ThinkingBudgets } from "../core/models/thinking-budgets.ts";
import type { WhenUnattended } from "../core/permissions/modes.ts";
import type { TaskView } from "../core/tools/operations.ts";
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
	/** Whether sessions can use the files of an editor: only a kernel in the process of the front end does. */
	readonly takesEditorFiles: boolean;
	/**
	 * Creates a session. Fails `model-not-set` when there is no such model, `invalid-input` for a directory or an agent
	 * that there is not, `overloaded` when too many are in use.
	 */
	create(options: CreationOptions): Promise<SessionHandle>;
	/**
	 * The session of this id, loaded if necessary, from disk if necessary, whatever its work directory is. Fails
	 * `session-not-found`. `options` are for one that this process loads for the first time.
	 */
	acquire(id: string, options?: OpeningOptions): Promise<SessionHandle>;
	/**
	 * Creates a session that begins with a copy of what this one has, or of its beginning, and gives its id. It is stored as
	 * a whole or not at all. Fails `session-not-found`, `busy` while a turn of it runs, `invalid-input` where it cannot be
	 * cut.
	 */
	fork(id: string, options?: ForkOptions): Promise<string>;
	/** Those created or opened here that are not archived, oldest first. */
	loaded(): Promise<readonly SessionInfo[]>;
	/** All that are stored, a page at a time. */
	list(query: ListQuery): Promise<SessionPage>;
	/** The stored events of one of those, read only: it is not opened, and another process may be using it. */
	storedEvents(session: StoredId): AsyncIterable<readonly AgentEvent[]>;
	/** The models that sessions can use, without variables that a session adds to the environment. */
	models(): Promise<ModelList>;
	/** The skills of the process's work directory, by name. */
	skills(): Promise<readonly SkillInfo[]>;
	/** The whole text of one of them; null when there is none of this name, or its file cannot be read. */
	skillText(name: string): Promise<string | null>;
	/** Cancels a running turn; false when there was none. Fails `session-not-found`. */
	interrupt(id: string): Promise<boolean>;
	/**
	 * Unloads a session that no client uses and that has no running background work, to free what it holds. It can be
	 * acquired again, with other options; one that nothing has happened in is gone. Nothing happens for another one.
	 */
	unload(id: string): Promise<void>;
	/** Archives a session: cancels its turn, awaits its end, and hides it. Its files stay. */
	archive(id: string): Promise<void>;
	/**
	 * Deletes a session for good, archived or not: ends its turn and its background work, unloads it, and removes its files.
	 * Nothing happens when there is none. Fails `busy` while another process has it open.
	 */
	delete(id: string): Promise<void>;
	/** Stops every session: running turns end as cancelled. */
	stop(): Promise<void>;
}

export type { ModelPrice };

/** A skill, as a person may choose one. */
export interface SkillInfo {
	readonly name: string;
	/** One line. */
	readonly description: string;
	/** Where it comes from. */
	readonly scope: "project" | "user" | "extra" | "built-in";
}

/** A model of the settings, for a person to choose. */
export interface ModelOption {
	/** Its key in the settings. */
	readonly alias: string;
	/** For people: its display name, or else the name sent to the provider. */
	readonly name: string;
	/** The key of its provider. */
	readonly provider: string;
	/** Size of the context window in tokens. */
	readonly maxContextSize: number;
	/** Whether it reasons: always, never, or as somebody chooses. */
	readonly thinking: "always" | "never" | "optional";
	/** How many tokens a request may let it think with; absent where requests do not say. */
	readonly thinkingBudgets?: ThinkingBudgets;
	/** What inputs may contain besides text. */
	readonly accepts: { readonly image: boolean; readonly audio: boolean; readonly video: boolean };
	/** Null when the settings do not say. */
	readonly price: ModelPrice | null;
}

/** The model that a session uses. */
export interface ModelChoice {
	/** Its key in the settings; null for one that they do not list. */
	readonly alias: string | null;
	/** For people: its display name, or else the name sent to the provider. */
	readonly name: string;
	/** The key of its provider; empty when there is none. */
	readonly provider: string;
	/** Whether it reasons. */
	readonly thinking: boolean;
}

/** The models of the settings, in their order. */
export interface ModelList {
	readonly options: readonly ModelOption[];
	/** The alias that a new session would get; null when it would get none of them. */
	readonly chosen: string | null;
}

/** Names a stored session without a look at the disk. */
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
	/** The name sent to the provider, and the provider's key; empty when there is none. */
	readonly model: string;
	readonly provider: string;
	readonly isRunning: boolean;
	/** Whether an approval or a question in it is open. */
	readonly isWaiting: boolean;
	/** Empty for one that was created without any. */
	readonly labels: Readonly<Record<string, string>>;
	/** Absent for one that was created without it. */
	readonly stagedInput?: UserInput;
}

/** A client's use of a loaded session, which stays loaded until it is released. */
export interface SessionHandle {
	/** The same object for all handles, as long as the session stays loaded. */
	readonly session: SessionApi;
	readonly info: SessionInfo;
	/**
	 * Starts a turn; fails `busy`, and `overloaded` when too many run. With a key it resolves once the beginning of the turn
	 * is stored, and the same key gives the same turn again, also in a later process; `invalid-input` for another input.
	 */
	startTurn(input: UserInput, options?: TurnStartOptions): Promise<{ readonly turnId: string }>;
	/** Call it once. */
	release(): void;
	/** Instead of `release`, for a session that was created for a turn that could not begin: removes the session. */
	discard(): Promise<void>;
}

/**
 * Given each time a session is opened. Servers and environment are never stored, because they may contain keys.
 */
export interface OpeningOptions {
	/** Its MCP servers, instead of those of the process. */
	readonly mcpServers?: readonly McpServerSettings[];
	/** In addition to its other MCP servers; of the same name, these count. */
	readonly addedMcpServers?: readonly McpServerSettings[];
	/**
	 * Text files of its workspace as the client's editor has them. They are used in the process of the session alone: not
	 * over a connection to a kernel elsewhere.
	 */
	readonly editorFiles?: EditorFiles;
	/** Added to the environment of the process: for its tools, hooks and MCP servers, and for the choice of its model. */
	readonly environment?: Readonly<Record<string, string>>;
	/** Further roots of its workspace: absolute paths of directories. They stay with the session. */
	readonly additionalDirs?: readonly string[];
	/**
	 * The tools of a stored session that no creation options came with, such as one of print mode; absent for none. It
	 * counts for this opening.
	 */
	readonly defaultTools?: ToolScope;
	/** Also one that was archived, to be read: it takes no turn. */
	readonly archived?: boolean;
}

export interface ForkOptions {
	/** Absent for a copy of everything. */
	readonly cut?: ForkCut;
	/** The expected work directory of the session; fails `invalid-input` if it is another. */
	readonly workDir?: string;
	/**
	 * Whether the first caller to acquire the fork provides its opening options. If absent, it gets those of the original:
	 * the added directories and, if the original is loaded, its environment and MCP servers, which are not stored.
	 */
	readonly isOpenedAnew?: boolean;
}

/** The beginning of a session. */
export interface ForkCut {
	/** How many messages of its conversation are retained; the system prompt is none of them, and stays. */
	readonly messages: number;
	/** Follows them, in place of the one that did. */
	readonly replacement?: HistoryEntry;
}

/** How a session begins. What is absent is left to the process and its settings. */
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
	 * What happens to a call that needs an approval while no client answers approvals; absent for the setting. `creator`
	 * approves it as what the creator of the session has decided, unless the settings reject all such calls.
	 */
	readonly whenUnattended?: WhenUnattended;
	/** What is approved for the session from the beginning: patterns of rules, such as `Shell(git status:*)`. */
	readonly grants?: readonly string[];
}

/**
 * The options of a new session, fixed for its lifetime. Null, or what is absent, leaves the choice to the process and its
 * settings.
 */
export interface CreationOptions extends OpeningOptions {
	/** The absolute path of a directory. */
	readonly workDir?: string;
	/** Which workers may run it; fails `unsupported` where sessions are stored on the disk of one machine. */
	readonly placement?: Placement;
	/** The name of a built-in agent, or the absolute path of an agent file. */
	readonly agent?: string;
	readonly mode?: StartingMode;
	readonly permissions?: PermissionOptions;
	/** An alias, or the provider's name of the model. */
	readonly model: string | null;
	/** Key, type or vendor of a provider. */
	readonly provider: string | null;
	/** Whether the model reasons, if it can; absent for the setting. */
	readonly thinking?: boolean;
	/** Maximal tokens of one answer. */
	readonly maxAnswerTokens: number | null;
	/** Maximal model calls of one turn. */
	readonly maxSteps: number | null;
	/** Replaces that of the agent. */
	readonly systemPrompt: string | null;
	readonly tools: ToolScope;
	readonly budgets: BudgetOptions;
	/** Set by the client, to find the session by. */
	readonly labels?: Readonly<Record<string, string>>;
	/** Added to the system prompt. */
	readonly instructions?: readonly string[];
	/** Options of each of its turns that does not have them itself. */
	readonly turns?: TurnOptions;
	/** Hooks of its runs, next to those of the settings. */
	readonly hooks?: readonly SessionHook[];
	/** Stored until the first turn, which may begin in any process. */
	readonly stagedInput?: UserInput;
}

/** A change of the MCP servers of a session. */
export type McpServersChange =
	/** In place of one of the same name. */
	| { readonly kind: "add"; readonly server: McpServerSettings }
	/** Nothing happens when there is none. */
	| { readonly kind: "remove"; readonly name: string }
	/** Starts it again, or all of them. */
	| { readonly kind: "reload"; readonly name: string | null };

/** Something that happened elsewhere, as `notification.add` stored it. */
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
	send<T extends CommandType>(command: Extract<Command, { type: T }>): Promise<CommandValues[T]>;
	/** What never changes while the session is loaded. */
	description(): Promise<SessionDescription>;
	/** Attaches a client; its events are those from the moment of the attachment's snapshot on. */
	attach(options: AttachOptions): Promise<Attachment>;
	snapshot(): Promise<SessionSnapshot>;
	/** The message history so far, as the model sees it. */
	conversation(): Promise<MessageHistory>;
	/**
	 * The session's stored events after this cursor, or from the beginning. Fails `invalid-input` for a cursor of a
	 * history that was rewritten. They come in batches, as they are read; a batch may be empty.
	 */
	events(after?: Cursor): AsyncIterable<readonly AgentEvent[]>;
	/** Makes it a session that a later process finds, although nothing has happened in it yet. */
	establish(): Promise<void>;
	/** The background tasks that are not over, or whose end was not reported yet, oldest first. */
	backgroundTasks(): Promise<readonly TaskView[]>;
	/** Whether there are notifications of background work that the model has not received yet. */
	hasBackgroundNews(): Promise<boolean>;
	/** What happened elsewhere and the model has not received yet, oldest first. */
	externalEvents(): Promise<readonly ExternalEvent[]>;
	/**
	 * Changes which MCP servers the session uses, from its next turn on and until it is unloaded. Fails `invalid-input` for
	 * a server to reload that there is not, and for too many servers.
	 */
	changeMcpServers(change: McpServersChange): Promise<void>;
	/** Ends all background tasks, also those that may outlive the session. */
	endBackgroundTasks(): Promise<void>;
	/** Resolves when the next background task ends, or the signal aborts. */
	backgroundTaskEnded(signal: AbortSignal): Promise<void>;
	/** Ends the running turn as cancelled, settles every interaction and ends the clients' events. Idempotent. */
	stop(): Promise<void>;
}

export interface SessionDescription {
	/** The commands that a prompt can invoke. */
	readonly slashCommands: readonly SlashCommandInfo[];
	/** The hooks of the settings, which run whatever clients subscribe to. */
	readonly commandHooks: readonly CommandHook[];
	/** The models that it can use. */
	readonly models: readonly ModelOption[];
	/** The modes that can be chosen: not those that settings forbid, nor plan mode for an agent without the tools for it. */
	readonly modes: readonly SessionMode[];
	/** Null when the settings ask for none. */
	readonly sandbox: SandboxDescription | null;
}

/** Whether commands run in the sandbox that the settings ask for. */
export interface SandboxDescription {
	readonly status: "active" | "none";
	/** Why there is none on this machine: a clause without full stop; null when it is active. */
	readonly why: string | null;
}

/** The state of a session at one moment. */
export interface SessionSnapshot {
	readonly sessionId: string;
	readonly workDir: string;
	/** The running turn; null when idle. */
	readonly turnId: string | null;
	/** Whether it was loaded from disk or has had a turn. */
	readonly hasHistory: boolean;
	/** The last durable event that was delivered to clients: the events after it follow this snapshot. */
	readonly cursor: Cursor;
	readonly planMode: boolean;
	/** Whether everything is approved without asking, and whether nobody is at the keyboard. */
	readonly approvesEverything: boolean;
	readonly isAway: boolean;
	/** The model that its next turn uses; null without one. */
	readonly model: ModelChoice | null;
	/** The tokens that its turns may reason with, as a client chose; null without a choice. */
	readonly thinkingBudget: number | null;
	/** The title that somebody gave it or that its first answered input did; null without one. */
	readonly title: string | null;
	/** The requests that wait for an answer, oldest first, each as it was delivered. */
	readonly openInteractions: readonly AgentEvent[];
	/**
	 * What the running turn has delivered of texts and calls that are not complete, and the last 64 KiB of the progress
	 * of each running call.
	 */
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
	/** Its tools; of those with the same name the last one counts. */
	readonly tools: readonly ClientToolDeclaration[];
	readonly capabilities: readonly ClientCapability[];
	/** Whether the client answers approvals; absent means that it does. */
	readonly approves?: boolean;
	/** Whether it expects to be asked about commands that only read as well; absent means that it does not. */
	readonly expectsQuestions?: boolean;
	/** The hooks it subscribes to; null for a client whose handshake did not mention hooks. */
	readonly hooks: readonly ClientHook[] | null;
	/** The id of an attachment of the same client, which this one replaces: its requests stay open. */
	readonly replaces?: string;
	/**
	 * The last event that the client has: the stored events after it come first, or all of them, after a
	 * `session.reset`, when it belongs to a history that was rewritten. Absent for the events from now on.
	 */
	readonly after?: Cursor;
	/**
	 * What happens when the client does not read. `blocking`, the default: the model waits for it. `droppable`: it loses
	 * volatile events, and reads the durable ones at its own pace.
	 */
	readonly flow?: Flow;
	/**
	 * Whether the client is delivered the output of running tool calls, `tool.progress`. Absent means that it is not;
	 * without a client that is, none is produced.
	 */
	readonly wantsProgress?: boolean;
}

/** A client's attachment to a session. */
export interface Attachment {
	/** Names the client within the session. */
	readonly id: string;
	/**
	 * The session when the client attached. Its open interactions are to be shown to the client: only for one with an
	 * older cursor do they come among the events as well.
	 */
	readonly snapshot: SessionSnapshot;
	/** The names of its tools that are offered to the model, and the refused ones with their reasons. */
	readonly tools: AttachedTools;
	/** Batches of events, so that one write can serve many. Ends after `close` and when the session closes. */
	readonly events: AsyncIterable<readonly AgentEvent[]>;
	/** Resolves once the reader has consumed all events delivered so far. */
	drained(): Promise<void>;
	/** Detaches the client; the session goes on. */
	close(): void;
}

/** A tool as its client declares it; `parameters` is a JSON Schema (draft 2020-12). */
export interface ClientToolDeclaration {
	readonly name: string;
	readonly description: string;
	readonly parameters: JsonSchema;
}

export interface AttachedTools {
	readonly accepted: readonly string[];
	readonly rejected: readonly { readonly name: string; readonly reason: string }[];
}

/** What the model is shown of the session; the system prompt is null before the first turn. */
export interface MessageHistory {
	readonly systemPrompt: string | null;
	readonly messages: readonly HistoryEntry[];
}

export interface SettingsDocuments {
	/** The document of this name, such as `.rkat/config.toml`. */
	find(name: string): SettingsDocument;
}

export interface SettingsDocument {
	/** Empty when there is no file. Fails `storage-failed` for one that cannot be read. */
	read(): Promise<Readonly<Record<string, unknown>>>;
	/**
	 * Replaces the document by the result of `change`, after all earlier updates, and resolves with the new content once
	 * it is on disk; if `change` throws, nothing changes. What stays the same stays as it is written, comments included.
	 */
	update(
		change: (current: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>,
	): Promise<Readonly<Record<string, unknown>>>;
}

/** Something that an uncaught exception in its work ends. */
export interface FaultOwner {
	/** Ends its running work with this error, reported as a bug of ours rather than an error of the client. */
	fail(thrown: unknown): void;
}
