import * as v from "valibot";
import { conflictChoices } from "../../api/values/file-changes.ts";
import { isRecord } from "../../base/json.ts";
import { contentBlockSchema } from "./content.ts";
import { quoted } from "./errors.ts";
import { absolutePath, capability, declared, flag, mcpServers, meta, nullish, params } from "./schema.ts";

export const servedVersion = 1;

export const sessionIdSchema = v.pipe(v.string(), v.nonEmpty("a session id is needed"));
const withinSession = { sessionId: sessionIdSchema };

export const implementationSchema = v.object({
	name: v.string(),
	title: nullish(v.string()),
	version: v.fallback(nullish(v.string()), null),
});

/** An object, else an empty one: unreadable capabilities count as none. */
export const objectOrNone = <E extends v.ObjectEntries>(entries: E) =>
	v.optional(
		v.pipe(
			v.unknown(),
			v.transform((value): Record<string, unknown> => (isRecord(value) ? value : {})),
			v.object(entries),
		),
		null,
	);

export const clientCapabilitiesSchema = objectOrNone({
	fs: objectOrNone({ readTextFile: flag, writeTextFile: flag }),
	terminal: flag,
	session: objectOrNone({
		compaction: capability,
		notices: capability,
		configOptions: objectOrNone({ boolean: capability }),
	}),
	auth: objectOrNone({ terminal: flag }),
	elicitation: objectOrNone({ form: capability, url: capability }),
	_meta: objectOrNone({ terminal_output: flag, "terminal-auth": flag }),
});
export type ClientCapabilities = v.InferOutput<typeof clientCapabilitiesSchema>;

export const initializeParamsSchema = params({
	/** Drafts before version 1 used a text. */
	protocolVersion: v.union([v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(65_535)), v.string()]),
	clientCapabilities: clientCapabilitiesSchema,
	clientInfo: v.fallback(nullish(implementationSchema), null),
});
export type InitializeParams = v.InferOutput<typeof initializeParamsSchema>;

export const authMethodSchema = v.object({
	id: v.string(),
	name: v.string(),
	description: v.string(),
	/** Absent for sign-in by `authenticate`; `terminal` to sign in with the same program and these arguments in a terminal. */
	type: v.exactOptional(v.literal("terminal")),
	args: v.exactOptional(v.array(v.string())),
	...meta,
});
export type AuthMethod = v.InferOutput<typeof authMethodSchema>;

export const initializeResultSchema = v.object({
	protocolVersion: v.literal(servedVersion),
	agentCapabilities: v.object({
		loadSession: v.literal(true),
		promptCapabilities: v.object({
			image: v.boolean(),
			audio: v.boolean(),
			embeddedContext: v.literal(true),
		}),
		mcpCapabilities: v.object({ http: v.literal(true), sse: v.literal(true) }),
		sessionCapabilities: v.object({
			list: declared,
			resume: declared,
			close: declared,
			delete: declared,
			fork: declared,
			additionalDirectories: declared,
		}),
		auth: v.object({ logout: v.exactOptional(declared) }),
	}),
	agentInfo: v.object({ name: v.string(), title: v.string(), version: v.string() }),
	authMethods: v.array(authMethodSchema),
	...meta,
});
export type InitializeResult = v.InferOutput<typeof initializeResultSchema>;

export const authenticateParamsSchema = params({ methodId: v.string() });
export const emptyParamsSchema = v.unknown();
export const emptyResultSchema = v.object({});

const namedValue = v.object({ name: v.string(), value: v.string(), ...meta });

export const stdioServerSchema = v.object({
	type: v.exactOptional(v.literal("stdio")),
	name: v.string(),
	command: v.string(),
	args: v.optional(v.array(v.string()), () => []),
	env: v.optional(v.array(namedValue), () => []),
	...meta,
});
export const remoteServerSchema = v.object({
	type: v.picklist(["http", "sse"]),
	name: v.string(),
	url: v.string(),
	headers: v.optional(v.array(namedValue), () => []),
	...meta,
});
export const mcpServerSchema = v.union([remoteServerSchema, stdioServerSchema], ({ input }) => faultOfServer(input));
export type McpServer = v.InferOutput<typeof mcpServerSchema>;

/** The fault in an MCP server that matches neither schema, described for the intended kind. */
function faultOfServer(server: unknown): string {
	if (!isRecord(server)) return "an MCP server is an object";
	const { name, type = "stdio" } = server;
	const which = typeof name === "string" ? `the MCP server ${quoted(name)}` : "an MCP server";
	const isRemote = type === "http" || type === "sse";
	if (!isRemote && type !== "stdio") return `${which} needs the type "stdio", "http" or "sse"`;
	const { issues } = v.safeParse(isRemote ? remoteServerSchema : stdioServerSchema, server);
	const [issue] = issues ?? [];
	const field = issue === undefined ? null : v.getDotPath(issue);
	const state = issue?.input === undefined ? "is missing" : `cannot be used, because ${issue.expected} is needed`;
	return `"${field}" of ${which} of the type "${type}" ${state}`;
}

const workspace = {
	cwd: absolutePath,
	additionalDirectories: v.optional(v.array(absolutePath), () => []),
	mcpServers: mcpServers(mcpServerSchema),
};

export const modeSchema = v.object({ id: v.string(), name: v.string(), description: v.string() });
export const modesSchema = v.object({ currentModeId: v.string(), availableModes: v.array(modeSchema) });
export type Modes = v.InferOutput<typeof modesSchema>;

const optionEntries = { id: v.string(), name: v.string(), description: v.string(), category: v.string() };
export const choiceSchema = v.object({ value: v.string(), name: v.string(), description: v.exactOptional(v.string()) });
export const configOptionSchema = v.variant("type", [
	v.object({ type: v.literal("select"), ...optionEntries, currentValue: v.string(), options: v.array(choiceSchema) }),
	v.object({ type: v.literal("boolean"), ...optionEntries, currentValue: v.boolean() }),
]);
export type ConfigOption = v.InferOutput<typeof configOptionSchema>;

const choices = { modes: modesSchema, configOptions: v.array(configOptionSchema) };

export const newSessionParamsSchema = params(workspace);
export const newSessionResultSchema = v.object({ sessionId: v.string(), ...choices });
export const openSessionParamsSchema = params({ ...withinSession, ...workspace });
export type OpenSessionParams = v.InferOutput<typeof openSessionParamsSchema>;
export const openSessionResultSchema = v.object(choices);
export type OpenSessionResult = v.InferOutput<typeof openSessionResultSchema>;

/** A fork keeps the system prompt of its session. */
export const forkOnly = { systemPrompt: v.exactOptional(v.null("has no effect here: leave it out")) };
/** Not part of version 1 yet. */
export const forkSessionParamsSchema = params({ ...withinSession, ...workspace, ...forkOnly });
export type ForkSessionParams = v.InferOutput<typeof forkSessionParamsSchema>;

export const listParamsSchema = v.pipe(
	v.optional(v.nullable(v.unknown()), () => ({})),
	v.transform((value) => value ?? {}),
	params({ cwd: nullish(absolutePath), cursor: nullish(v.string()) }),
);
export const sessionInfoSchema = v.object({
	sessionId: v.string(),
	cwd: v.string(),
	title: v.string(),
	updatedAt: v.string(),
});
export const listResultSchema = v.object({
	sessions: v.array(sessionInfoSchema),
	nextCursor: v.exactOptional(v.string()),
});

export const sessionParamsSchema = params(withinSession);
export const promptParamsSchema = params({
	...withinSession,
	prompt: v.pipe(v.array(contentBlockSchema), v.minLength(1, "a prompt needs at least one block")),
});
export type PromptParams = v.InferOutput<typeof promptParamsSchema>;
export const stopReasonSchema = v.picklist(["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]);
export type StopReason = v.InferOutput<typeof stopReasonSchema>;
export const promptResultSchema = v.object({ stopReason: stopReasonSchema });
export type PromptResult = v.InferOutput<typeof promptResultSchema>;

export const setModeParamsSchema = params({ ...withinSession, modeId: v.string() });
export const setConfigOptionParamsSchema = params({
	...withinSession,
	configId: v.string(),
	value: v.union([v.string(), v.boolean()]),
});
export const setConfigOptionResultSchema = v.object({ configOptions: v.array(configOptionSchema) });

export const cancelRequestParamsSchema = params({ requestId: v.union([v.string(), v.number(), v.null()]) });

export const steeringResultSchema = v.object({
	outcome: v.picklist(["injected", "startedNewTurn", "failed", "promptRequired"]),
});
export type SteeringResult = v.InferOutput<typeof steeringResultSchema>;

export const rewindParamsSchema = params({
	...withinSession,
	messageId: v.string(),
	files: v.optional(v.boolean(), true),
	conversation: v.optional(v.boolean(), true),
	conflicts: v.optional(v.picklist(conflictChoices), "stop"),
	dryRun: v.optional(v.boolean(), false),
});
export type RewindParams = v.InferOutput<typeof rewindParamsSchema>;

/** In every error: its text for users, which editors show. */
export const errorDataSchema = v.object({ details: v.string() });
