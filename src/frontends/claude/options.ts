// What the command line of a client comes to.
import type { AddedRule, McpServerSettings } from "../../kernel/api.ts";
import type { PermissionMode } from "./wire.ts";

export type SessionChoice =
	| { readonly kind: "new" }
	/** `isForked`: a copy of it goes on, under another id. */
	| { readonly kind: "stored"; readonly id: string; readonly isForked: boolean }
	/** The last one of the work directory; a new one where there is none. */
	| { readonly kind: "last"; readonly isForked: boolean };

export interface ClaudeOptions {
	/** Absolute. */
	readonly workDir: string;
	readonly session: SessionChoice;
	/** The id of a new session or a copy; null for any. */
	readonly newId: string | null;
	readonly model: string | null;
	readonly permissionMode: PermissionMode;
	/** Whether the client decides about tools (`--permission-prompt-tool stdio`). */
	readonly asksClient: boolean;
	/** Null for the agent's own. */
	readonly systemPrompt: string | null;
	readonly instructions: readonly string[];
	/** The built-in tools, under our names; null for all. */
	readonly tools: readonly string[] | null;
	/** As written, for tools of the client's process. */
	readonly allowedTools: readonly string[];
	/** The rules of all other tools, next to those of the settings. */
	readonly rules: readonly AddedRule[];
	/** Added to the environment of the process. */
	readonly environment: Readonly<Record<string, string>>;
	/** Model calls of one turn; null for the settings. */
	readonly maxSteps: number | null;
	/** Tools that the model is not offered, under our names. */
	readonly blockedTools: readonly string[];
	readonly maxBudgetDollars: number | null;
	/** Tokens to think with; null leaves it to the settings. */
	readonly thinkingBudget: number | null;
	readonly answerSchema: Readonly<Record<string, unknown>> | null;
	readonly additionalDirs: readonly string[];
	readonly mcpServers: readonly McpServerSettings[];
	/** Whether these servers are all there are. */
	readonly isStrictMcp: boolean;
	/** Servers of the client's process. */
	readonly clientServers: readonly string[];
	readonly wantsPartial: boolean;
	readonly repeatsPrompts: boolean;
}
