import type { EditorFiles } from "../../api/editor-files.ts";
import type { McpServerSettings } from "../../api/mcp-servers.ts";
import type { AddedRule, BudgetOptions, PermissionOptions, StartingMode } from "../../api/session-options.ts";
import type { SessionHook } from "../../api/values/hooks/session-hook.ts";
import type { TurnOptions } from "../../api/values/turn-options.ts";
import type { AgentDefinition } from "../../core/definitions/agent-definition.ts";
import type { ModelWish } from "./models.ts";

/** Options that may differ between sessions. Null means the configured value. */
export interface SessionOptions extends ModelWish {
	readonly yolo: boolean;
	readonly plan: boolean;
	/** Unattended; persisted in the session state. */
	readonly afk: boolean;
	/** Unattended while this program runs; not persisted. */
	readonly unattended: boolean;
	/** Whether clients come and go: requests wait for the next client, unless settings or creator say otherwise. */
	readonly expectsClients?: boolean;
	/** More workspace roots, absolute; persisted in the session state. */
	readonly additionalDirs: readonly string[];
	/** Absolute skill directories that replace project and user skills. */
	readonly skillsDirs: readonly string[];
	readonly budgets?: Partial<BudgetOptions>;
	readonly maxSteps: number | null;
	readonly maxAttempts: number | null;
	/** Repetitions of a prompt after the first run; -1 for unlimited. */
	readonly maxLoopIterations: number | null;
	readonly mcpServers: readonly McpServerSettings[];
	readonly agent?: AgentDefinition;
	/** Whether the agent has plugin tools. Default: true. */
	readonly plugins?: boolean;
	readonly maxAnswerTokens?: number;
	/** Initial mode of a new session, persisted in its state. Overrides other options and settings. */
	readonly mode?: StartingMode;
	readonly permissions?: PermissionOptions;
	readonly rules?: readonly AddedRule[];
	/** Added to the process environment. */
	readonly environment?: Readonly<Record<string, string>>;
	readonly isWholeEnvironment?: boolean;
	readonly editorFiles?: EditorFiles;
	readonly instructions?: readonly string[];
	readonly turns?: TurnOptions;
	readonly hooks?: readonly SessionHook[];
	/** Whether starting a turn here ends a turn running in another process. Default: false. */
	readonly takesOver?: boolean;
	readonly creationOptions?: object;
	/** Whether this process has several sessions here; the last one is then the one with the latest turn start. */
	readonly isOneOfMany?: boolean;
	/** Whether to confine commands, with network access, if possible and no sandbox is set up. `yolo` overrides it. */
	readonly confinesCommands?: boolean;
	/** Whether a prompt with an unknown slash command goes to the model instead of failing. Default: false. */
	readonly passesUnknownCommands?: boolean;
	/** Whether the session opens before its start hooks have run; the caller then waits for `begun`. Default: false. */
	readonly opensEarly?: boolean;
}

export function withEnvironment(
	environment: Readonly<Record<string, string>>,
	{ environment: own = {}, isWholeEnvironment = false }: Pick<SessionOptions, "environment" | "isWholeEnvironment">,
): Readonly<Record<string, string>> {
	return isWholeEnvironment ? own : { ...environment, ...own };
}

/** No options: the configuration applies. */
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
