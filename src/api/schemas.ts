// Schemas of events, attach options, and what a remote kernel reports about its sessions.
import * as v from "valibot";
import type { ModelChoice, ModelList, ModelOption, ModelPrice } from "./models.ts";
import {
	amount,
	anyRecord,
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
import type { ListQuery, SessionPage, SessionSummary } from "./session-list.ts";
import type { AttachOptions, ClientToolDeclaration } from "./session-options.ts";
import type {
	AttachedClient,
	AttachedTools,
	SessionDescription,
	SessionInfo,
	SessionSnapshot,
	SkillInfo,
} from "./session-state.ts";
import { contentPartSchema, toolCallSchema, userInputSchema } from "./values/content.ts";
import type { HistoryEntry } from "./values/conversation.ts";
import {
	type AgentEvent,
	type AgentPathEntry,
	type Cursor,
	type EventBody,
	type EventOrigin,
	readEventBody,
} from "./values/event.ts";
import type { ClientHook, CommandHook } from "./values/hooks/hook.ts";
import { hookEvents } from "./values/hooks/hook-event.ts";
import { sessionModes } from "./values/session-mode.ts";
import { type TaskView, taskStatuses } from "./values/task-status.ts";

export const cursorSchema = objectOf<Cursor>({ epoch: text, seq: amount });

const agentPathSchema: SchemaOf<readonly AgentPathEntry[]> = v.array(
	objectOf<AgentPathEntry>({ parentToolCallId: nullableText, agentId: nullableText, subagentType: nullableText }),
);

const bodySchema: SchemaOf<EventBody> = v.pipe(
	v.unknown(),
	v.rawTransform(({ dataset, addIssue, NEVER }) => {
		const body = readEventBody(dataset.value);
		if (body !== null) return body;
		addIssue({ message: "is not an event" });
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

export const clientToolSchema = objectOf<ClientToolDeclaration>({
	name: text,
	description: text,
	parameters: anyRecord,
});

export const attachOptionsSchema = objectOf<AttachOptions>({
	client: v.nullable(clientSchema),
	tools: v.array(clientToolSchema),
	capabilities: v.array(v.picklist(["questions", "plan-mode"])),
	approves: optional(flag),
	expectsQuestions: optional(flag),
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

export const modelChoiceSchema = objectOf<ModelChoice>({
	alias: nullableText,
	name: text,
	provider: text,
	thinking: flag,
});

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
	hasFailed: optional(flag),
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
	withUnused: optional(flag),
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

export const skillSchema = objectOf<SkillInfo>({
	name: text,
	description: text,
	scope: v.picklist(["project", "user", "extra", "built-in"]),
});
