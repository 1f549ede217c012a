// The schemas of what crosses a connection between a front end and a kernel elsewhere. What an interface of the kernel
// API has, its schema has: the compiler checks that no member is left out.
import * as v from "valibot";
import { isRecord } from "../base/json.ts";
import type { LocalMcpServer, McpOAuthClient, McpServerSettings, RemoteMcpServer } from "../config/mcp-servers.ts";
import type { Command, CommandType, CommandValues } from "../events/command.ts";
import { contentPartSchema, toolCallSchema, userInputSchema } from "../events/content.ts";
import type { HistoryEntry } from "../events/conversation.ts";
import {
	type AgentEvent,
	type AgentPathEntry,
	type Cursor,
	type EventBody,
	type EventOrigin,
	readEventBody,
} from "../events/event.ts";
import { hookEvents } from "../events/hook-event.ts";
import { answerSchema, type InteractionFailure, settledBySchema } from "../events/interaction.ts";
import { sessionHooksSchema } from "../events/session-hook.ts";
import { sessionModes } from "../events/session-mode.ts";
import { taskStatuses } from "../events/task-status.ts";
import {
	traceParentSchema,
	turnKeySchema,
	turnOptionsChangeSchema,
	turnOptionsSchema,
} from "../events/turn-options.ts";
import type { ClientHook, CommandHook } from "../hooks/hook.ts";
import type {
	AttachedClient,
	AttachedTools,
	AttachOptions,
	ClientToolDeclaration,
	CreationOptions,
	ForkCut,
	ForkOptions,
	McpServersChange,
	ModelChoice,
	ModelList,
	ModelOption,
	ModelPrice,
	OpeningOptions,
	PermissionOptions,
	SessionDescription,
	SessionInfo,
	SessionSnapshot,
	SkillInfo,
	StartingMode,
} from "../kernel/api.ts";
import type { ListQuery, Placement, SessionPage, SessionSummary } from "../store/session-store.ts";
import type { TaskView } from "../tools/operations.ts";

/** The schema of a value of this type, whatever is read. */
export type SchemaOf<T> = v.GenericSchema<unknown, T>;

/** One schema for each member; a member that may be absent has one that says so. */
type EntriesOf<T> = {
	readonly [K in keyof T]-?: Partial<Pick<T, K>> extends Pick<T, K>
		? v.ExactOptionalSchema<SchemaOf<Exclude<T[K], undefined>>, undefined>
		: SchemaOf<T[K]>;
};

function objectOf<T extends object>(entries: EntriesOf<T>): SchemaOf<T> {
	const object: unknown = v.object(entries);
	// EntriesOf has checked each member; the compiler cannot put them together again for a type that is not known yet.
	return object as SchemaOf<T>;
}

const text = v.string();
const flag = v.boolean();
const amount = v.number();
const texts = v.array(text);
const nullableText = v.nullable(text);
const nullableAmount = v.nullable(amount);
/** With every name: the library's own schema leaves out those that all objects have, such as `constructor`. */
const anyRecord = v.custom<Record<string, unknown>>(isRecord);
const textsByName = v.custom<Record<string, string>>(
	(value) => isRecord(value) && Object.values(value).every((each) => typeof each === "string"),
);
const optional = <S extends v.GenericSchema>(schema: S) => v.exactOptional(schema);

export const cursorSchema = objectOf<Cursor>({ epoch: text, seq: amount });

const agentPathSchema: SchemaOf<readonly AgentPathEntry[]> = v.array(
	objectOf<AgentPathEntry>({ parentToolCallId: nullableText, agentId: nullableText, subagentType: nullableText }),
);

const bodySchema: SchemaOf<EventBody> = v.pipe(
	v.unknown(),
	v.rawTransform(({ dataset, addIssue, NEVER }) => {
		const body = readEventBody(dataset.value);
		if (body !== null) return body;
		addIssue({ message: "is no event" });
		return NEVER;
	}),
);

export const eventSchema = objectOf<EventOrigin & Pick<AgentEvent, "body">>({
	sessionId: text,
	turnId: nullableText,
	agentPath: agentPathSchema,
	at: amount,
	seq: optional(amount),
	isFromLog: optional(flag),
	epoch: optional(text),
	body: bodySchema,
});

type Failure<Kind extends InteractionFailure["kind"]> = Extract<InteractionFailure, { kind: Kind }>;
const failureSchema: SchemaOf<InteractionFailure> = v.union([
	objectOf<Failure<"error-reply">>({ kind: v.literal("error-reply"), message: text }),
	objectOf<Failure<"malformed">>({ kind: v.literal("malformed") }),
]);

type CommandOf<T extends CommandType> = Extract<Command, { type: T }>;
const commandSchemas: { readonly [T in CommandType]: SchemaOf<CommandOf<T>> } = {
	"turn.start": objectOf<CommandOf<"turn.start">>({
		type: v.literal("turn.start"),
		input: userInputSchema,
		isOwn: optional(flag),
		options: optional(turnOptionsSchema),
		key: optional(turnKeySchema),
		trace: optional(traceParentSchema),
	}),
	"turn.steer": objectOf<CommandOf<"turn.steer">>({ type: v.literal("turn.steer"), input: userInputSchema }),
	"turn.cancel": objectOf<CommandOf<"turn.cancel">>({ type: v.literal("turn.cancel") }),
	"plan-mode.set": objectOf<CommandOf<"plan-mode.set">>({ type: v.literal("plan-mode.set"), enabled: flag }),
	"mode.set": objectOf<CommandOf<"mode.set">>({ type: v.literal("mode.set"), mode: v.picklist(sessionModes) }),
	"model.set": objectOf<CommandOf<"model.set">>({
		type: v.literal("model.set"),
		model: nullableText,
		thinking: v.nullable(flag),
	}),
	"title.set": objectOf<CommandOf<"title.set">>({ type: v.literal("title.set"), title: text }),
	"turn-options.set": objectOf<CommandOf<"turn-options.set">>({
		type: v.literal("turn-options.set"),
		options: turnOptionsChangeSchema,
	}),
	"side-question.start": objectOf<CommandOf<"side-question.start">>({
		type: v.literal("side-question.start"),
		question: text,
	}),
	"context.add": objectOf<CommandOf<"context.add">>({
		type: v.literal("context.add"),
		text,
		name: nullableText,
	}),
	"notification.add": objectOf<CommandOf<"notification.add">>({
		type: v.literal("notification.add"),
		id: text,
		kind: text,
		input: userInputSchema,
		key: nullableText,
	}),
	"side-question.cancel": objectOf<CommandOf<"side-question.cancel">>({
		type: v.literal("side-question.cancel"),
		id: text,
	}),
	"task.stop": objectOf<CommandOf<"task.stop">>({ type: v.literal("task.stop"), id: text }),
	"files.find": objectOf<CommandOf<"files.find">>({ type: v.literal("files.find"), query: text }),
	"interaction.respond": objectOf<CommandOf<"interaction.respond">>({
		type: v.literal("interaction.respond"),
		interactionId: text,
		clientId: optional(text),
		answer: v.union([answerSchema, failureSchema]),
	}),
};

export const commandSchema: SchemaOf<Command> = v.union(Object.values(commandSchemas));

export const commandValueSchemas: { readonly [T in CommandType]: SchemaOf<CommandValues[T]> } = {
	"turn.start": v.object({ turnId: text }),
	"turn.steer": v.null(),
	"turn.cancel": v.null(),
	"plan-mode.set": v.object({ planMode: flag }),
	"mode.set": v.object({ mode: v.picklist(sessionModes) }),
	"turn-options.set": v.null(),
	"model.set": v.object({ alias: nullableText, name: text, provider: text, thinking: flag }),
	"title.set": v.object({ title: text }),
	"side-question.start": v.object({ id: text }),
	"context.add": v.object({ added: flag }),
	"notification.add": v.object({ added: flag, id: text }),
	"side-question.cancel": v.null(),
	"task.stop": v.object({ stopped: flag }),
	"files.find": v.object({ paths: texts, isPartial: flag }),
	"interaction.respond": v.object({ settled: flag, by: v.nullable(settledBySchema) }),
};

const hook = { event: v.picklist(hookEvents), matcher: text, timeout: amount };
const clientHookSchema = objectOf<ClientHook>({
	...hook,
	kind: v.literal("client"),
	clientId: optional(text),
	subscriptionId: text,
});
const commandHookSchema = objectOf<CommandHook>({
	...hook,
	kind: v.literal("command"),
	command: text,
	failClosed: flag,
});

const clientSchema = v.object({ name: text, version: nullableText });

export const attachOptionsSchema = objectOf<AttachOptions>({
	client: v.nullable(clientSchema),
	tools: v.array(objectOf<ClientToolDeclaration>({ name: text, description: text, parameters: anyRecord })),
	capabilities: v.array(v.picklist(["questions", "plan-mode"])),
	approves: optional(flag),
	hooks: v.nullable(v.array(clientHookSchema)),
	replaces: optional(text),
	after: optional(cursorSchema),
	flow: optional(v.picklist(["blocking", "droppable"])),
	wantsProgress: optional(flag),
});

export const attachedToolsSchema = objectOf<AttachedTools>({
	accepted: texts,
	rejected: v.array(v.object({ name: text, reason: text })),
});

const modelOptionSchema = objectOf<ModelOption>({
	alias: text,
	name: text,
	provider: text,
	maxContextSize: amount,
	thinking: v.picklist(["always", "never", "optional"]),
	thinkingBudgets: optional(
		objectOf<NonNullable<ModelOption["thinkingBudgets"]>>({
			vendor: v.picklist(["anthropic", "gemini"]),
			minimum: amount,
			maximum: v.nullable(amount),
		}),
	),
	accepts: v.object({ image: flag, audio: flag, video: flag }),
	price: v.nullable(
		objectOf<ModelPrice>({ currency: text, input: amount, output: amount, cacheRead: amount, cacheCreation: amount }),
	),
});

export const modelListSchema = objectOf<ModelList>({ options: v.array(modelOptionSchema), chosen: nullableText });

const modelChoiceSchema = objectOf<ModelChoice>({ alias: nullableText, name: text, provider: text, thinking: flag });

export const snapshotSchema = objectOf<SessionSnapshot>({
	sessionId: text,
	workDir: text,
	turnId: nullableText,
	hasHistory: flag,
	cursor: cursorSchema,
	planMode: flag,
	approvesEverything: flag,
	isAway: flag,
	model: v.nullable(modelChoiceSchema),
	thinkingBudget: v.nullable(v.number()),
	title: nullableText,
	openInteractions: v.array(eventSchema),
	unfinished: v.array(
		objectOf<SessionSnapshot["unfinished"][number]>({ agentPath: agentPathSchema, body: bodySchema }),
	),
	clients: v.array(objectOf<AttachedClient>({ clientId: text, name: nullableText, version: nullableText })),
});

export const descriptionSchema = objectOf<SessionDescription>({
	slashCommands: v.array(v.object({ name: text, description: text, aliases: texts })),
	commandHooks: v.array(commandHookSchema),
	models: v.array(modelOptionSchema),
	modes: v.array(v.picklist(sessionModes)),
	sandbox: v.nullable(v.object({ status: v.picklist(["active", "none"]), why: nullableText })),
});

export const infoSchema = objectOf<SessionInfo>({
	id: text,
	workDir: text,
	model: text,
	provider: text,
	isRunning: flag,
	isWaiting: flag,
	labels: textsByName,
	stagedInput: optional(userInputSchema),
});

export const historyEntrySchema = objectOf<HistoryEntry>({
	role: v.picklist(["user", "assistant", "tool", "system"]),
	content: v.array(contentPartSchema),
	toolCalls: optional(v.array(toolCallSchema)),
	toolCallId: optional(text),
	name: optional(text),
});

export const taskSchema = objectOf<TaskView>({
	id: text,
	kind: v.picklist(["bash", "agent"]),
	status: v.picklist(taskStatuses),
	description: text,
	timeout: nullableAmount,
	command: nullableText,
	agent: v.nullable(v.object({ id: text, type: text })),
	exitCode: nullableAmount,
	interrupted: flag,
	timedOut: flag,
	reason: nullableText,
	outputPath: nullableText,
});

export const listQuerySchema = objectOf<ListQuery>({
	workDir: optional(text),
	after: optional(text),
	limit: optional(amount),
});

export const sessionPageSchema = objectOf<SessionPage>({
	sessions: v.array(
		objectOf<SessionSummary>({
			id: text,
			workDir: text,
			title: text,
			updatedAt: amount,
			archivedAt: nullableAmount,
			notRunnable: optional(text),
		}),
	),
	next: nullableText,
});

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

const toolScope = v.picklist(["none", "without-commands", "commands", "all"]);
const opening = {
	mcpServers: optional(v.array(mcpServerSchema)),
	addedMcpServers: optional(v.array(mcpServerSchema)),
	environment: optional(textsByName),
	additionalDirs: optional(texts),
	defaultTools: optional(toolScope),
	archived: optional(flag),
};
export const openingOptionsSchema = objectOf<Omit<OpeningOptions, "editorFiles">>(opening);

export const skillSchema = objectOf<SkillInfo>({
	name: text,
	description: text,
	scope: v.picklist(["project", "user", "extra", "built-in"]),
});

export const forkOptionsSchema = objectOf<ForkOptions>({
	cut: optional(objectOf<ForkCut>({ messages: amount, replacement: optional(historyEntrySchema) })),
	workDir: optional(text),
	isOpenedAnew: optional(flag),
});

export const creationOptionsSchema = objectOf<Omit<CreationOptions, "editorFiles">>({
	...opening,
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
