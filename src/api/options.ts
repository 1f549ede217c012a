// Schemas of the options for creating, opening and forking sessions. An editor's file access is not among them: it cannot cross
// a connection.
import * as v from "valibot";
import type {
	LocalMcpServer,
	McpOAuthClient,
	McpServerSettings,
	McpServersChange,
	RemoteMcpServer,
} from "./mcp-servers.ts";
import {
	amount,
	flag,
	nullableAmount,
	nullableText,
	objectOf,
	optional,
	type SchemaOf,
	text,
	texts,
	textsByName,
} from "./object-schemas.ts";
import { historyEntrySchema } from "./schemas.ts";
import type { Placement } from "./session-list.ts";
import type {
	AddedRule,
	CreationOptions,
	ForkCut,
	ForkFiles,
	ForkOptions,
	OpeningOptions,
	PermissionOptions,
	StartingMode,
} from "./session-options.ts";
import { userInputSchema } from "./values/content.ts";
import { sessionHooksSchema } from "./values/hooks/session-hook.ts";
import { turnOptionsSchema } from "./values/turn-options.ts";

const anyServer = {
	name: text,
	callTimeout: nullableAmount,
	filter: objectOf<McpServerSettings["filter"]>({
		names: v.nullable(texts),
		hidden: texts,
		includeTags: v.nullable(texts),
		excludeTags: texts,
	}),
};
const mcpServerSchema: SchemaOf<McpServerSettings> = v.union([
	objectOf<LocalMcpServer>({
		...anyServer,
		kind: v.literal("local"),
		command: text,
		arguments: texts,
		environment: textsByName,
		workDir: nullableText,
	}),
	objectOf<RemoteMcpServer>({
		...anyServer,
		kind: v.literal("remote"),
		url: text,
		transport: v.picklist(["http", "sse"]),
		headers: textsByName,
		authorization: v.variant("kind", [
			v.object({ kind: v.literal("none") }),
			v.object({ kind: v.literal("bearer"), token: text }),
			v.object({
				kind: v.literal("oauth"),
				client: v.nullable(objectOf<McpOAuthClient>({ id: text, secret: nullableText, callbackPort: nullableAmount })),
			}),
		]),
		readTimeout: nullableAmount,
	}),
]);

export const mcpServersChangeSchema: SchemaOf<McpServersChange> = v.union([
	v.object({ kind: v.literal("add"), server: mcpServerSchema }),
	v.object({ kind: v.literal("remove"), name: text }),
	v.object({ kind: v.literal("reload"), name: nullableText }),
]);

const budget = optional(v.nullable(v.pipe(amount, v.minValue(0))));
/** Limits that a client may set for a session or its turns; null or absent means no limit. */
export const budgetEntries = {
	sessionTokens: budget,
	sessionSeconds: budget,
	sessionToolCalls: budget,
	turnTokens: budget,
	turnSeconds: budget,
	turnToolCalls: budget,
};

const toolScope = v.picklist(["none", "without-commands", "commands", "all"]);
/** Options to give again each time a session is opened. */
export const openingEntries = {
	mcpServers: optional(v.array(mcpServerSchema)),
	addedMcpServers: optional(v.array(mcpServerSchema)),
	environment: optional(textsByName),
	additionalDirs: optional(texts),
	defaultTools: optional(toolScope),
	archived: optional(flag),
};
/** Opening options that public clients cannot set. */
const trustedEntries = {
	isWholeEnvironment: optional(flag),
	passesUnknownCommands: optional(flag),
	rules: optional(v.array(objectOf<AddedRule>({ decision: v.picklist(["allow", "ask", "deny"]), pattern: text }))),
};
export const openingOptionsSchema = objectOf<Omit<OpeningOptions, "editorFiles">>({
	...openingEntries,
	...trustedEntries,
	maxSteps: optional(nullableAmount),
});

export const forkOptionsSchema = objectOf<ForkOptions>({
	id: optional(text),
	cut: optional(objectOf<ForkCut>({ messages: amount, replacement: optional(historyEntrySchema) })),
	before: optional(text),
	files: optional(objectOf<ForkFiles>({ directory: text, worktree: optional(flag) })),
	workDir: optional(text),
	isOpenedAnew: optional(flag),
});

export const creationOptionsSchema = objectOf<Omit<CreationOptions, "editorFiles">>({
	...openingEntries,
	...trustedEntries,
	id: optional(text),
	workDir: optional(text),
	placement: optional(objectOf<Placement>({ owner: text, needs: texts })),
	agent: optional(text),
	mode: optional(
		objectOf<StartingMode>({
			planMode: optional(flag),
			approvesEverything: optional(flag),
			isAway: optional(flag),
		}),
	),
	permissions: optional(
		objectOf<PermissionOptions>({
			whenUnattended: optional(v.picklist(["approve", "creator", "reject", "wait"])),
			grants: optional(texts),
		}),
	),
	model: nullableText,
	provider: nullableText,
	thinking: optional(flag),
	maxAnswerTokens: nullableAmount,
	maxSteps: nullableAmount,
	systemPrompt: nullableText,
	tools: toolScope,
	labels: optional(textsByName),
	instructions: optional(texts),
	turns: optional(turnOptionsSchema),
	hooks: optional(sessionHooksSchema),
	stagedInput: optional(userInputSchema),
	budgets: objectOf<CreationOptions["budgets"]>({
		sessionTokens: nullableAmount,
		sessionSeconds: nullableAmount,
		sessionToolCalls: nullableAmount,
		turnTokens: nullableAmount,
		turnSeconds: nullableAmount,
		turnToolCalls: nullableAmount,
	}),
});

/** Creates a session with all tools and no other options. */
export const plainCreation: CreationOptions = {
	model: null,
	provider: null,
	maxAnswerTokens: null,
	maxSteps: null,
	systemPrompt: null,
	budgets: {
		sessionTokens: null,
		sessionSeconds: null,
		sessionToolCalls: null,
		turnTokens: null,
		turnSeconds: null,
		turnToolCalls: null,
	},
	tools: "all",
};
