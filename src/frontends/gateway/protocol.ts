// What clients of the gateway send and receive, declared once: the methods of `POST /rpc`, and the shapes of everything
// else. The vocabulary is the kernel's own.
import * as v from "valibot";
import { userInputSchema } from "../../api/values/content.ts";
import { answerSchema, settledBySchema } from "../../api/values/interaction.ts";
import { sessionModes } from "../../api/values/session-mode.ts";
import { turnKeySchema } from "../../api/values/turn-options.ts";
import type { SessionSnapshot } from "../../kernel/api.ts";
import {
	cursorSchema,
	descriptionSchema,
	infoSchema,
	modelListSchema,
	sessionPageSchema,
	taskSchema,
} from "../../api/schemas.ts";
import { type Scope, scopes } from "./access/tokens.ts";
import { promptFileSchema } from "../shared/prompt-files.ts";
import { toGatewayEvent } from "../shared/public-event.ts";
import type { ShownQueue } from "./prompt-queues.ts";
import { modelSchema, providerSchema, signInSchema } from "./setup.ts";

/** The version of this protocol: another one when something of it no longer means what it did. */
export const gatewayVersion = 1;

const text = v.string();
const count = v.pipe(v.number(), v.integer(), v.minValue(1));
/** Of a worker: what a session may need of it. */
const tag = v.pipe(text, v.regex(/^[A-Za-z0-9._:@/-]{1,64}$/));
const optional = <S extends v.GenericSchema>(schema: S) => v.exactOptional(schema);
const session = { sessionId: text };
const none = v.strictObject({});
const onSession = v.strictObject(session);

/** An event as clients receive it; its type says which members it has. */
const eventSchema = v.looseObject({ type: text });

/** The state of a session, with its events in the form of this protocol. */
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
	openInteractions: v.array(eventSchema),
	unfinished: v.array(eventSchema),
	clients: v.array(v.object({ clientId: text, name: v.nullable(text), version: v.nullable(text) })),
});

/** The prompts that wait; of their files the names. */
export const queueSchema = v.object({
	prompts: v.array(
		v.object({
			id: text,
			input: text,
			files: v.array(v.object({ name: text, type: text })),
			/** Milliseconds since 1970. */
			at: v.number(),
		}),
	),
	/** Why the first one could not be sent. */
	failure: v.nullable(text),
});

export interface MethodDeclaration<P extends v.GenericSchema, R extends v.GenericSchema> {
	/** One sentence for the document. */
	readonly about: string;
	/** What a token must allow. */
	readonly scope: Scope;
	readonly params: P;
	readonly result: R;
}

function method<P extends v.GenericSchema, R extends v.GenericSchema>(
	scope: Scope,
	about: string,
	params: P,
	result: R,
): MethodDeclaration<P, R> {
	return { about, scope, params, result };
}

export const methods = {
	"server.info": method(
		"observe",
		"What serves here, and what the token allows.",
		none,
		v.strictObject({ name: text, version: text, protocol: v.literal(gatewayVersion), scope: v.picklist(scopes) }),
	),
	"models.list": method(
		"observe",
		"The models of the settings, and the one that a new session gets.",
		none,
		modelListSchema,
	),
	"models.offered": method(
		"control",
		"Asks a provider for the models that it offers for a key, which finds a wrong key. `compatible` needs `baseUrl`.",
		providerSchema,
		v.strictObject({ models: v.array(v.object({ id: text, name: text, contextSize: v.nullable(v.number()) })) }),
	),
	"models.configure": method(
		"control",
		"Adds a model with its key to the settings file of the user, which its owner alone can read; it is the default if there is none. No answer has the key.",
		modelSchema,
		v.strictObject({ alias: text }),
	),
	"account.sign-in": method(
		"control",
		"Begins a sign-in to the Kimi platform, unless one is on its way; `account.status` has the address and the code to confirm there.",
		none,
		signInSchema,
	),
	"account.status": method("control", "How the sign-in stands.", none, signInSchema),
	"account.cancel": method("control", "Ends a sign-in that waits.", none, signInSchema),
	"sessions.demo": method(
		"control",
		"Creates a session with a scripted model in a project of its own: it shows what a session is like, without a key. `input` is the prompt that its model expects; start the turn once a stream can answer what it asks.",
		none,
		v.strictObject({ ...session, workDir: text, input: text }),
	),
	"sessions.list": method(
		"observe",
		"The stored sessions, the last used first, a page at a time: `after` is the `next` of the page before.",
		v.strictObject({ workDir: optional(text), after: optional(text), limit: optional(count) }),
		sessionPageSchema,
	),
	"sessions.loaded": method(
		"observe",
		"The sessions that were created or opened here since the start, and whether they run and wait for an answer to an approval or a question.",
		none,
		v.array(infoSchema),
	),
	"workers.list": method(
		"observe",
		"The workers that run (docs/scale.md), each with the version of the protocol that it speaks, null when it announced none, and with the reason why this gateway cannot use it (`notUsable`), if there is one. Null where the gateway runs its sessions itself.",
		none,
		v.nullable(
			v.array(
				v.object({
					id: text,
					address: text,
					tags: v.array(text),
					remoteVersion: v.nullable(v.number()),
					isEnding: v.boolean(),
					notUsable: optional(text),
				}),
			),
		),
	),
	"sessions.create": method(
		"control",
		"Creates a session. What is absent is left to the settings and the command line of the gateway. With workers (docs/scale.md), `needs` are the tags that a worker must have to run it, and `owner` is whom it belongs to: the workers are shared fairly among owners.",
		v.strictObject({
			workDir: optional(text),
			additionalDirs: optional(v.array(text)),
			model: optional(text),
			thinking: optional(v.boolean()),
			agent: optional(text),
			mode: optional(v.picklist(sessionModes)),
			systemPrompt: optional(text),
			maxSteps: optional(count),
			grants: optional(v.array(text)),
			labels: optional(v.record(text, text)),
			owner: optional(v.pipe(text, v.maxLength(200))),
			needs: optional(v.pipe(v.array(tag), v.maxLength(20))),
		}),
		v.strictObject({ ...session, workDir: text }),
	),
	"sessions.fork": method(
		"control",
		"Makes a session that begins with a copy of this one, or of its first `messages` messages. Fails `busy` while a turn runs.",
		v.strictObject({ ...session, messages: optional(v.pipe(v.number(), v.integer(), v.minValue(0))) }),
		v.strictObject({ ...session, workDir: text }),
	),
	"sessions.rename": method(
		"control",
		"Gives a session a title of at most 200 characters on one line, which stays; `title.changed` reports it to every client.",
		v.strictObject({ ...session, title: text }),
		v.strictObject({ title: text }),
	),
	"sessions.archive": method(
		"control",
		"Archives a session: cancels its turn and hides it. Its files stay.",
		onSession,
		v.null(),
	),
	"sessions.delete": method("control", "Deletes a session with all its files, for good.", onSession, v.null()),
	"session.snapshot": method(
		"observe",
		"The state of a session at this moment: mode, model, open interactions, the unfinished part of a running turn.",
		onSession,
		snapshotSchema,
	),
	"session.description": method(
		"observe",
		"What does not change while a session is loaded: its commands, hooks, models, sandbox, and the modes that can be chosen.",
		onSession,
		descriptionSchema,
	),
	"session.background-tasks": method(
		"observe",
		"The background tasks that are not over, or whose end the model has not been given yet.",
		onSession,
		v.array(taskSchema),
	),
	"background-task.stop": method(
		"control",
		"Requests the end of a background task: its command with everything it started, or its subagent. `stopped` says whether it ran until then.",
		v.strictObject({ ...session, id: text }),
		v.strictObject({ stopped: v.boolean() }),
	),
	"files.find": method(
		"control",
		"Finds files and directories of the work directory whose path has the letters of `query` in their order, the best first, at most 50. What version control ignores and what no model may read is left out.",
		v.strictObject({ ...session, query: v.pipe(text, v.maxLength(1000)) }),
		v.strictObject({ paths: v.array(text), isPartial: v.boolean() }),
	),
	"turn.start": method(
		"control",
		"Starts a turn; `turn.ended` reports its end. Fails `busy` while one runs. `files`, with their content as base64, are shown to the model after the input: images, sound and video that it takes, and texts. With a `key` the answer comes once the beginning of the turn is stored, and the same key gives the same turn again, also after a restart of the server (of the last 64 of a session); fails `invalid-input` for another input.",
		v.strictObject({
			...session,
			input: userInputSchema,
			files: optional(v.array(promptFileSchema)),
			key: optional(turnKeySchema),
		}),
		v.strictObject({ turnId: text }),
	),
	"turn.steer": method(
		"control",
		"Adds input to the running turn, with files as `turn.start`. Fails `no-turn` when none runs.",
		v.strictObject({ ...session, input: userInputSchema, files: optional(v.array(promptFileSchema)) }),
		v.null(),
	),
	"turn.cancel": method("control", "Cancels the running turn. Fails `no-turn` when none runs.", onSession, v.null()),
	"queue.list": method(
		"observe",
		"The prompts that wait for the end of a turn, as the stream's `queue` shows them.",
		onSession,
		queueSchema,
	),
	"queue.add": method(
		"control",
		"Adds a prompt, with files as `turn.start`, that is sent when the running turn finishes; when nothing runs or waits, at once. After a turn that failed or was cancelled the prompts wait until one is sent by `queue.send` or another turn finishes. They survive a restart.",
		v.strictObject({ ...session, input: text, files: optional(v.array(promptFileSchema)) }),
		v.strictObject({ id: text }),
	),
	"queue.change": method(
		"control",
		"Replaces the text of a prompt that waits.",
		v.strictObject({ ...session, id: text, input: text }),
		v.null(),
	),
	"queue.remove": method("control", "Removes a prompt that waits.", v.strictObject({ ...session, id: text }), v.null()),
	"queue.send": method(
		"control",
		"Sends a prompt that waits now: to the running turn, or as a turn of its own.",
		v.strictObject({ ...session, id: text }),
		v.null(),
	),
	"mode.set": method(
		"control",
		"Sets the mode of a session.",
		v.strictObject({ ...session, mode: v.picklist(sessionModes) }),
		v.strictObject({ mode: v.picklist(sessionModes) }),
	),
	"model.set": method(
		"control",
		"Chooses the model of the next turns by its alias, and whether it thinks; null leaves that as it is.",
		v.strictObject({ ...session, model: v.nullable(text), thinking: v.nullable(v.boolean()) }),
		v.strictObject({ alias: v.nullable(text), name: text, provider: text, thinking: v.boolean() }),
	),
	"side-question.start": method(
		"control",
		"Asks a question while a turn runs; `side-question.ended` reports the answer.",
		v.strictObject({ ...session, question: text }),
		v.strictObject({ id: text }),
	),
	"interaction.respond": method(
		"control",
		"Answers a request. The first answer wins: `settled` says whether it was this one, `by` whose it was.",
		v.strictObject({
			...session,
			interactionId: text,
			/** As the stream's `state` says it: others are shown who answered. */
			clientId: optional(text),
			answer: answerSchema,
		}),
		v.strictObject({ settled: v.boolean(), by: v.nullable(settledBySchema) }),
	),
} as const;

export type MethodName = keyof typeof methods;
export type Params<N extends MethodName> = v.InferOutput<(typeof methods)[N]["params"]>;
export type Result<N extends MethodName> = v.InferOutput<(typeof methods)[N]["result"]>;

export const methodNames = Object.keys(methods).filter(isMethodName);

export function isMethodName(name: string): name is MethodName {
	return Object.hasOwn(methods, name);
}

/** The body of `POST /interactions/{id}`. */
export const answerBodySchema = v.strictObject({ ...session, clientId: optional(text), answer: answerSchema });

/** What of a session's events a stream has: with `block` the volatile ones of the model's output are left out. */
export const grades = ["delta", "block"] as const;
export type Grade = (typeof grades)[number];

/** A session that a stream is to carry, from after the cursor on, or from now on. */
export interface Subscription {
	readonly sessionId: string;
	readonly after: v.InferOutput<typeof cursorSchema> | null;
}

/** The queue as clients receive it. */
export function toShownQueue({ prompts, failure }: ShownQueue): v.InferOutput<typeof queueSchema> {
	return { prompts: prompts.map((each) => ({ ...each, files: [...each.files] })), failure };
}

/** The snapshot as clients receive it. */
export function toShownSnapshot(snapshot: SessionSnapshot): v.InferOutput<typeof snapshotSchema> {
	// What only one dialect lets a client choose is not shown.
	const { thinkingBudget: _, ...shown } = snapshot;
	return {
		...shown,
		openInteractions: snapshot.openInteractions.map(toGatewayEvent),
		unfinished: snapshot.unfinished.map(({ body, ...origin }) => ({ ...origin, ...body })),
		clients: [...snapshot.clients],
	};
}
