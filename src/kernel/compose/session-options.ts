// The options that a session is opened with, whoever opens it: the command line, or a client that has many.

import type { SessionHook } from "../../api/values/hooks/session-hook.ts";
import type { TurnOptions } from "../../api/values/turn-options.ts";
import type { AgentDefinition } from "../../core/definitions/agent-definition.ts";
import type { EditorFiles } from "../../ports/files/editor-files.ts";
import type { McpServerSettings } from "../../settings/config/mcp-servers.ts";
import type { AddedRule, PermissionOptions, StartingMode } from "../api.ts";
import type { BudgetOptions } from "../budgets/budget-options.ts";
import type { ModelWish } from "./models.ts";

/** Options that may differ from session to session. Null leaves the choice to the configuration. */
export interface SessionOptions extends ModelWish {
	readonly yolo: boolean;
	/** Start in plan mode. */
	readonly plan: boolean;
	/** Nobody is at the keyboard; persisted in the session's state. */
	readonly afk: boolean;
	/** Nobody is at the keyboard while this program runs; not persisted. */
	readonly unattended: boolean;
	/**
	 * Whether clients come and go: what needs an answer while there is none waits for the next one, where neither the
	 * settings nor whoever created the session say otherwise. Absent for false.
	 */
	readonly expectsClients?: boolean;
	/** Further roots of the workspace, absolute; persisted in the session's state. */
	readonly additionalDirs: readonly string[];
	/** Directories of skills, absolute, that replace those of project and person. */
	readonly skillsDirs: readonly string[];
	/** Budgets that override those of the configuration; absent or null for no override. */
	readonly budgets?: Partial<BudgetOptions>;
	readonly maxSteps: number | null;
	readonly maxAttempts: number | null;
	/** How often a prompt is repeated after its first time; -1 for any number. */
	readonly maxLoopIterations: number | null;
	readonly mcpServers: readonly McpServerSettings[];
	/** An agent from a file; absent for the default one. */
	readonly agent?: AgentDefinition;
	/** Whether the agent has the tools of plugins; absent means that it has. */
	readonly plugins?: boolean;
	/** Maximal tokens of one answer; absent for the value in the settings. */
	readonly maxAnswerTokens?: number;
	/** How a new session begins, persisted in its state; what is given overrides the other options and the settings. */
	readonly mode?: StartingMode;
	readonly permissions?: PermissionOptions;
	/** Permission rules next to those of the settings; absent for none. */
	readonly rules?: readonly AddedRule[];
	/** Added to the environment of the process; absent for nothing. */
	readonly environment?: Readonly<Record<string, string>>;
	/** Text files as a client's editor has them; absent for those on disk. */
	readonly editorFiles?: EditorFiles;
	/** Added to the system prompt of the session's own agent; absent for nothing. */
	readonly instructions?: readonly string[];
	/** Options of each turn that does not have them itself. */
	readonly turns?: TurnOptions;
	/** Hooks of its runs, next to those of the settings; absent for none. */
	readonly hooks?: readonly SessionHook[];
	/** Whether a turn that runs in another process is ended for one that starts here; absent for false. */
	readonly takesOver?: boolean;
	/** The creation options to persist with the session; absent for none. */
	readonly creationOptions?: object;
	/**
	 * Whether the process has several sessions of this work dir: then the last session is the one that last began a
	 * turn.
	 */
	readonly isOneOfMany?: boolean;
	/**
	 * Whether commands are confined to the workspace, with the machine's network, where the settings ask for no sandbox and
	 * this machine has one; absent for false. `yolo` overrides it.
	 */
	readonly confinesCommands?: boolean;
	/** Whether a prompt that names an unknown slash command goes to the model. Absent for false: it is answered with an error. */
	readonly passesUnknownCommands?: boolean;
	/**
	 * Whether it is open before the hooks of its start have run: whoever opens it waits for `begun` then. Absent for false.
	 */
	readonly opensEarly?: boolean;
}

/** No options: the configuration decides. */
export const plainSessionOptions: SessionOptions = {
	model: null,
	thinking: null,
	yolo: false,
	plan: false,
	afk: false,
	unattended: false,
	additionalDirs: [],
	skillsDirs: [],
	maxSteps: null,
	maxAttempts: null,
	maxLoopIterations: null,
	mcpServers: [],
};
