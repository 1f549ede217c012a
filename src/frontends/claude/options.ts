import type { McpServerSettings } from "../../api/mcp-servers.ts";
import type { AddedRule } from "../../api/session-options.ts";
import type { PermissionMode } from "./wire.ts";

export type SessionChoice =
	| { readonly kind: "new" }
	/** `isForked`: continues a copy under another id. */
	| { readonly kind: "stored"; readonly id: string; readonly isForked: boolean }
	/** The last session of the work directory, or a new one. */
	| { readonly kind: "last"; readonly isForked: boolean };

export interface ClaudeOptions {
	readonly workDir: string;
	readonly session: SessionChoice;
	readonly newId: string | null;
	readonly model: string | null;
	readonly permissionMode: PermissionMode;
	/** Whether the client decides about tools (`--permission-prompt-tool stdio`). */
	readonly asksClient: boolean;
	readonly systemPrompt: string | null;
	readonly instructions: readonly string[];
	/** Built-in tools by our names; null for all. */
	readonly tools: readonly string[] | null;
	/** As written, for tools in the client's process. */
	readonly allowedTools: readonly string[];
	/** Rules for all other tools, in addition to those of the settings. */
	readonly rules: readonly AddedRule[];
	readonly environment: Readonly<Record<string, string>>;
	readonly maxSteps: number | null;
	/** Tools hidden from the model, by our names. */
	readonly blockedTools: readonly string[];
	readonly maxBudgetDollars: number | null;
	readonly thinkingBudget: number | null;
	readonly answerSchema: Readonly<Record<string, unknown>> | null;
	readonly additionalDirs: readonly string[];
	readonly mcpServers: readonly McpServerSettings[];
	/** Whether the session uses only these servers. */
	readonly isStrictMcp: boolean;
	readonly clientServers: readonly string[];
	readonly wantsPartial: boolean;
	readonly repeatsPrompts: boolean;
}
