// The kernel's public surface, one row per operation. The gateway's `POST /rpc`, `serve --stdio`, the in-process caller, the
// typed clients and the documents are all derived from these rows; operations.texts.ts has a sentence for each.
import * as v from "valibot";
import { budgetEntries, mcpServersChangeSchema, openingEntries } from "./options.ts";
import {
	attachedToolsSchema,
	clientToolSchema,
	cursorSchema,
	descriptionSchema,
	infoSchema,
	modelListSchema,
	sessionPageSchema,
	skillSchema,
	taskSchema,
} from "./schemas.ts";
import { userInputSchema } from "./values/content.ts";
import {
	conflictChoices,
	fileDiffSchema,
	filePlanSchema,
	leftPathSchema,
	recordedChangesSchema,
	restoredFilesSchema,
	rewoundSchema,
} from "./values/file-changes.ts";
import { hookEvents } from "./values/hooks/hook-event.ts";
import { sessionHooksSchema } from "./values/hooks/session-hook.ts";
import { answerSchema, settledBySchema } from "./values/interaction.ts";
import { promptFileSchema } from "./values/prompt-file.ts";
import { sessionModes } from "./values/session-mode.ts";
import { turnKeySchema, turnOptionsChangeSchema, turnOptionsSchema } from "./values/turn-options.ts";

/** Version of the public protocol. Raised when existing behavior changes its meaning. */
export const publicVersion = 1;

/** What a token allows: changing things, or only reading. */
export const scopes = ["control", "observe"] as const;
export type Scope = (typeof scopes)[number];

export type Stability = "stable" | "experimental";

export interface Operation<P extends v.GenericSchema, R extends v.GenericSchema> {
	/** `stream`: the result is followed by batches of events, in the transport's own form. */
	readonly kind: "command" | "query" | "stream";
	readonly scope: Scope;
	/** What it acts on: the host, a stored session (archived ones included), or a loaded session. */
	readonly target: "host" | "stored" | "loaded";
	/** Whether a client may retry it after losing the answer: always, with a key, or never. */
	readonly retry: "safe" | "keyed" | "never";
	/** An experimental row may change in any release (docs/reference/stability.md). */
	readonly stability: Stability;
	readonly params: P;
	readonly result: R;
}

type Row<P extends v.GenericSchema, R extends v.GenericSchema> = Operation<P, R>;

/** A read-only operation. */
export function query<P extends v.GenericSchema, R extends v.GenericSchema>(
	target: Row<P, R>["target"],
	params: P,
	result: R,
): Row<P, R> {
	return { kind: "query", scope: "observe", target, retry: "safe", stability: "stable", params, result };
}

/** An operation that changes something. */
export function command<P extends v.GenericSchema, R extends v.GenericSchema>(
	target: Row<P, R>["target"],
	retry: Row<P, R>["retry"],
	params: P,
	result: R,
): Row<P, R> {
	return { kind: "command", scope: "control", target, retry, stability: "stable", params, result };
}

/** An operation whose form may still change. */
export function experimental<O extends Operation<v.GenericSchema, v.GenericSchema>>(row: O): O {
	return { ...row, stability: "experimental" };
}

const text = v.string();
const count = v.pipe(v.number(), v.integer(), v.minValue(1));
/** A label that a session may require of its worker. */
const tag = v.pipe(text, v.regex(/^[A-Za-z0-9._:@/-]{1,64}$/));
const optional = <S extends v.GenericSchema>(schema: S) => v.exactOptional(schema);
const session = { sessionId: text };
const none = v.strictObject({});
const onSession = v.strictObject(session);
const created = v.strictObject({ ...session, workDir: text });
const files = optional(v.array(promptFileSchema));

/** An event as public clients receive it. The type determines the other members. */
const publicEventSchema = v.looseObject({ type: text });

/** A session's state, with events in their public form. */
export const snapshotSchema = v.object({
	sessionId: text,
	workDir: text,
	turnId: v.nullable(text),
	hasHistory: v.boolean(),
	cursor: cursorSchema,
	planMode: v.boolean(),
	approvesEverything: v.boolean(),
	isAway: v.boolean(),
	model: v.nullable(v.object({ alias: v.nullable(text), name: text, provider: text, thinking: v.boolean() })),
	title: v.nullable(text),
	openInteractions: v.array(publicEventSchema),
	unfinished: v.array(publicEventSchema),
	clients: v.array(v.object({ clientId: text, name: v.nullable(text), version: v.nullable(text) })),
});

/** Which events a client wants: `block` leaves out streamed deltas. */
export const grades = ["delta", "block"] as const;
export type Grade = (typeof grades)[number];

/** A hook decided by the client. `timeout` is in seconds; an empty matcher matches everything. */
const clientHookSchema = v.strictObject({
	id: text,
	event: v.picklist(hookEvents),
	matcher: optional(text),
	timeout: optional(v.pipe(v.number(), v.minValue(1), v.maxValue(600))),
});

export const operations = {
	"server.info": query(
		"host",
		none,
		v.strictObject({ name: text, version: text, protocol: v.literal(publicVersion), scope: v.picklist(scopes) }),
	),
	"models.list": query("host", none, modelListSchema),
	"skills.list": query("host", none, v.array(skillSchema)),
	"sessions.list": query(
		"host",
		v.strictObject({ workDir: optional(text), after: optional(text), limit: optional(count) }),
		sessionPageSchema,
	),
	"sessions.loaded": query("host", none, v.array(infoSchema)),
	"sessions.create": command(
		"host",
		"keyed",
		v.strictObject({
			...openingEntries,
			workDir: optional(text),
			model: optional(text),
			provider: optional(text),
			thinking: optional(v.boolean()),
			maxAnswerTokens: optional(count),
			maxSteps: optional(count),
			agent: optional(text),
			mode: optional(v.picklist(sessionModes)),
			systemPrompt: optional(text),
			instructions: optional(v.array(text)),
			turns: optional(turnOptionsSchema),
			hooks: optional(sessionHooksSchema),
			budgets: optional(v.strictObject(budgetEntries)),
			grants: optional(v.array(text)),
			whenUnattended: optional(v.picklist(["approve", "creator", "reject", "wait"])),
			labels: optional(v.record(text, text)),
			owner: optional(v.pipe(text, v.maxLength(200))),
			needs: optional(v.pipe(v.array(tag), v.maxLength(20))),
		}),
		created,
	),
	"sessions.fork": command(
		"stored",
		"keyed",
		v.strictObject({
			...session,
			messages: optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
			before: optional(text),
			files: optional(v.strictObject({ directory: text, worktree: optional(v.boolean()) })),
		}),
		v.strictObject({ ...created.entries, left: v.array(leftPathSchema), reasons: v.array(text) }),
	),
	"sessions.rename": command(
		"stored",
		"safe",
		v.strictObject({ ...session, title: text }),
		v.strictObject({ title: text }),
	),
	"sessions.archive": command("host", "safe", onSession, v.null()),
	"sessions.unarchive": command("host", "safe", onSession, v.null()),
	"sessions.delete": command("host", "safe", onSession, v.null()),
	"session.snapshot": query("stored", onSession, snapshotSchema),
	"session.description": query("stored", onSession, descriptionSchema),
	"session.history": query(
		"stored",
		v.strictObject({ ...session, after: optional(cursorSchema), limit: optional(v.pipe(count, v.maxValue(1000))) }),
		v.strictObject({ events: v.array(publicEventSchema), cursor: cursorSchema, isEnd: v.boolean() }),
	),
	"session.attach": {
		kind: "stream",
		scope: "observe",
		target: "stored",
		retry: "safe",
		stability: "stable",
		params: v.strictObject({
			...session,
			after: optional(cursorSchema),
			client: optional(v.strictObject({ name: v.pipe(text, v.maxLength(100)), version: v.nullable(text) })),
			answers: optional(v.boolean()),
			grade: optional(v.picklist(grades)),
			tools: optional(v.array(clientToolSchema)),
			hooks: optional(v.array(clientHookSchema)),
			replaces: optional(text),
		}),
		result: v.strictObject({ clientId: text, snapshot: snapshotSchema, tools: attachedToolsSchema }),
	} satisfies Operation<v.GenericSchema, v.GenericSchema>,
	"session.background-tasks": query("stored", onSession, v.array(taskSchema)),
	"session.change-mcp-servers": experimental(
		command("loaded", "safe", v.strictObject({ ...session, change: mcpServersChangeSchema }), v.null()),
	),
	"background-task.stop": command(
		"stored",
		"safe",
		v.strictObject({ ...session, id: text }),
		v.strictObject({ stopped: v.boolean() }),
	),
	"files.find": {
		...query(
			"stored",
			v.strictObject({ ...session, query: v.pipe(text, v.maxLength(1000)) }),
			v.strictObject({ paths: v.array(text), isPartial: v.boolean() }),
		),
		scope: "control",
	},
	// File contents are only for tokens that may change something.
	"files.changes": experimental({
		...query(
			"loaded",
			v.strictObject({ ...session, id: optional(text) }),
			v.strictObject({ turns: v.array(recordedChangesSchema) }),
		),
		scope: "control",
	}),
	"files.diff": experimental({
		...query("loaded", v.strictObject({ ...session, id: text, path: text }), fileDiffSchema),
		scope: "control",
	}),
	"files.plan": experimental({
		...query("loaded", v.strictObject({ ...session, before: text }), filePlanSchema),
		scope: "control",
	}),
	"files.restore": experimental(
		command(
			"loaded",
			"never",
			v.strictObject({ ...session, before: text, conflicts: optional(v.picklist(conflictChoices)) }),
			restoredFilesSchema,
		),
	),
	"session.rewind": experimental(
		command(
			"loaded",
			"never",
			v.strictObject({
				...session,
				before: text,
				files: optional(v.boolean()),
				conversation: optional(v.boolean()),
				conflicts: optional(v.picklist(conflictChoices)),
				dryRun: optional(v.boolean()),
			}),
			rewoundSchema,
		),
	),
	"turn.start": command(
		"loaded",
		"keyed",
		v.strictObject({
			...session,
			input: userInputSchema,
			files,
			options: optional(turnOptionsSchema),
			key: optional(turnKeySchema),
			takeOver: optional(v.boolean()),
		}),
		v.strictObject({ turnId: text }),
	),
	"turn.steer": command("loaded", "never", v.strictObject({ ...session, input: userInputSchema, files }), v.null()),
	"turn.cancel": command("loaded", "safe", onSession, v.null()),
	"turn-options.set": command(
		"loaded",
		"safe",
		v.strictObject({ ...session, options: turnOptionsChangeSchema }),
		v.null(),
	),
	"mode.set": command(
		"loaded",
		"safe",
		v.strictObject({ ...session, mode: v.picklist(sessionModes) }),
		v.strictObject({ mode: v.picklist(sessionModes) }),
	),
	"model.set": command(
		"loaded",
		"safe",
		v.strictObject({ ...session, model: v.nullable(text), thinking: v.nullable(v.boolean()) }),
		v.strictObject({ alias: v.nullable(text), name: text, provider: text, thinking: v.boolean() }),
	),
	"context.add": experimental(
		command(
			"loaded",
			"safe",
			v.strictObject({ ...session, text, name: v.nullable(text) }),
			v.strictObject({ added: v.boolean() }),
		),
	),
	"side-question.start": experimental(
		command("loaded", "never", v.strictObject({ ...session, question: text }), v.strictObject({ id: text })),
	),
	"side-question.cancel": experimental(command("loaded", "safe", v.strictObject({ ...session, id: text }), v.null())),
	"interaction.respond": command(
		"loaded",
		"safe",
		v.strictObject({
			...session,
			interactionId: text,
			/** The client's name from `session.attach`; other clients see who answered. */
			clientId: optional(text),
			answer: answerSchema,
		}),
		v.strictObject({ settled: v.boolean(), by: v.nullable(settledBySchema) }),
	),
} as const;

export type OperationName = keyof typeof operations;
export type OperationParams<N extends OperationName> = v.InferOutput<(typeof operations)[N]["params"]>;
export type OperationResult<N extends OperationName> = v.InferOutput<(typeof operations)[N]["result"]>;
