// What a session is created, opened, forked and attached to with.
import type { EditorFiles } from "./editor-files.ts";
import type { McpServerSettings } from "./mcp-servers.ts";
import type { Placement } from "./session-list.ts";
import type { UserInput } from "./values/content.ts";
import type { HistoryEntry } from "./values/conversation.ts";
import type { Cursor } from "./values/event.ts";
import type { ClientHook } from "./values/hooks/hook.ts";
import type { SessionHook } from "./values/hooks/session-hook.ts";
import type { WhenUnattended } from "./values/session-mode.ts";
import type { TurnOptions } from "./values/turn-options.ts";

/** Tools an agent keeps: none, all but command tools, only command tools, or all. */
export type ToolScope = "none" | "without-commands" | "commands" | "all";

/** Budgets under their settings names; times in seconds, null for no limit. */
export interface BudgetOptions {
	readonly sessionTokens: number | null;
	readonly sessionSeconds: number | null;
	readonly sessionToolCalls: number | null;
	readonly turnTokens: number | null;
	readonly turnSeconds: number | null;
	readonly turnToolCalls: number | null;
}

/** Given each time a session is opened. Servers and environment are never stored, since they may contain keys. */
export interface OpeningOptions {
	/** MCP servers, replacing the process's. */
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
	/** The tools for a stored session without creation options, such as one of print mode; absent for all. Only for this opening. */
	readonly defaultTools?: ToolScope;
	/** Also opens an archived session, for reading only. */
	readonly archived?: boolean;
	/** Additional permission rules. Only for this opening. */
	readonly rules?: readonly AddedRule[];
	/** Whether a prompt with an unknown slash command goes to the model instead of failing. Only for this opening. */
	readonly passesUnknownCommands?: boolean;
	/** Maximum model calls per turn, overriding the session's own. Only for this opening. */
	readonly maxSteps?: number | null;
}

/** A rule as in the settings, with a `pattern` such as `Shell(git status:*)`. */
export interface AddedRule {
	readonly decision: "allow" | "ask" | "deny";
	readonly pattern: string;
}

export interface ForkOptions {
	/** The fork's id: a UUID that is not in use. Absent to generate one. */
	readonly id?: string;
	/** Absent to copy everything. */
	readonly cut?: ForkCut;
	/** Keeps everything before this turn; instead of `cut`. */
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

/** A separate work directory for a fork, with a copy of the files. */
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

export type ClientCapability = "questions" | "plan-mode";

export type Flow = "blocking" | "droppable";

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

export type JsonSchema = Readonly<Record<string, unknown>>;

/** A client's tool; `parameters` is a JSON Schema (draft 2020-12). */
export interface ClientToolDeclaration {
	readonly name: string;
	readonly description: string;
	readonly parameters: JsonSchema;
}
