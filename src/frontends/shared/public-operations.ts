// Runs api/operations.ts for every transport. A session is held only while a request runs.

import * as v from "valibot";
import type { Attachment, SessionHandle, SessionsApi } from "../../api/kernel.ts";
import {
	type Grade,
	type OperationName,
	type OperationParams,
	type OperationResult,
	operations,
	publicVersion,
	type Scope,
} from "../../api/operations.ts";
import { plainCreation } from "../../api/options.ts";
import type { CreationOptions, OpeningOptions, StartingMode } from "../../api/session-options.ts";
import type { SessionSnapshot } from "../../api/session-state.ts";
import { type AgentEvent, type EventType, eventDeclarations } from "../../api/values/event.ts";
import type { SessionMode } from "../../api/values/session-mode.ts";
import { eachOf } from "../../base/collections.ts";
import { KernelError } from "../../base/errors.ts";
import { isRecord, textSize } from "../../base/json.ts";
import { withFiles } from "./prompt-files.ts";
import { type PublicEvent, toPublicEvent } from "./public-event.ts";

/** Operations with a single answer; `session.attach` is a stream. */
export type CallableName = Exclude<OperationName, "session.attach">;

export interface CallOrigin {
	readonly scope: Scope;
	/** The turn key from the transport's own key for repeated requests, if it has one. */
	readonly turnKey: string | null;
	/** The caller's trace position for the turn that it starts, if any. */
	readonly trace: string | null;
}

export type OperationHandlers = {
	readonly [N in CallableName]: (params: OperationParams<N>, origin: CallOrigin) => Promise<OperationResult<N>>;
};

export interface PublicAttachment {
	readonly state: OperationResult<"session.attach">;
	readonly events: AsyncIterable<readonly AgentEvent[]>;
	wants(type: EventType): boolean;
	/** Detaches and releases the session. Idempotent. */
	close(): void;
}

export interface OperationParts {
	readonly sessions: SessionsApi;
	readonly server: { readonly name: string; readonly version: string };
}

/** Default events per history page, and the characters after which a page ends; a single event may be larger. */
const pageLength = 200;
const pageSize = 8 * 1024 * 1024;
/** Default timeout of a client's hook, in seconds. */
const hookTime = 30;

/** Archived sessions can be read. */
const toLookAt: OpeningOptions = { archived: true };

export async function withSession<R>(
	sessions: SessionsApi,
	id: string,
	options: OpeningOptions,
	work: (handle: SessionHandle) => Promise<R>,
): Promise<R> {
	const handle = await sessions.acquire(id, options);
	try {
		return await work(handle);
	} finally {
		handle.release();
	}
}

export function createOperationHandlers({ sessions, server }: OperationParts): OperationHandlers {
	const look = <R>(id: string, work: (handle: SessionHandle) => Promise<R>) =>
		withSession(sessions, id, toLookAt, work);
	const use = <R>(id: string, work: (handle: SessionHandle) => Promise<R>) => withSession(sessions, id, {}, work);
	return {
		"server.info": async (_, { scope }) => ({ ...server, protocol: publicVersion, scope }),
		"models.list": () => sessions.models(),
		"skills.list": async () => [...(await sessions.skills())],
		"sessions.list": (query) => sessions.list(query),
		"sessions.loaded": async () => [...(await sessions.loaded())],
		"sessions.create": (params) => createSession(sessions, toCreationOptions(params)),
		"sessions.fork": async ({ sessionId, messages, ...options }) => {
			const cut = messages === undefined ? {} : { cut: { messages } };
			const { id, left, reasons } = await sessions.fork(sessionId, { ...cut, ...options });
			return await look(id, async ({ session }) => ({
				sessionId: session.id,
				workDir: session.workDir,
				left,
				reasons,
			}));
		},
		"sessions.rename": ({ sessionId, title }) =>
			look(sessionId, ({ session }) => session.send({ type: "title.set", title })),
		"sessions.archive": ({ sessionId }) => nothing(sessions.archive(sessionId)),
		"sessions.unarchive": ({ sessionId }) => nothing(sessions.unarchive(sessionId)),
		"sessions.delete": ({ sessionId }) => nothing(sessions.delete(sessionId)),
		"session.snapshot": ({ sessionId }) =>
			look(sessionId, async ({ session }) => toShownSnapshot(await session.snapshot())),
		"session.description": ({ sessionId }) =>
			look(sessionId, ({ session }) => session.send({ type: "session.describe" })),
		"session.history": ({ sessionId, after, limit = pageLength }) =>
			look(sessionId, async ({ session }) => {
				const start = after ?? { ...(await session.snapshot()).cursor, seq: 0 };
				const events: PublicEvent[] = [];
				let cursor = start;
				let size = 0;
				for await (const event of eachOf(session.events(start))) {
					if (events.length >= limit || size >= pageSize) return { events, cursor, isEnd: false };
					events.push(toPublicEvent(event));
					size += textSize(event.body);
					cursor = { epoch: event.epoch ?? cursor.epoch, seq: event.seq ?? cursor.seq };
				}
				return { events, cursor, isEnd: true };
			}),
		"session.background-tasks": ({ sessionId }) =>
			look(sessionId, async ({ session }) => [...(await session.send({ type: "tasks.list" })).tasks]),
		"session.change-mcp-servers": ({ sessionId, change }) =>
			use(sessionId, ({ session }) => session.send({ type: "mcp-servers.change", change })),
		"background-task.stop": ({ sessionId, id }) =>
			look(sessionId, ({ session }) => session.send({ type: "task.stop", id })),
		"files.find": ({ sessionId, query }) =>
			look(sessionId, async ({ session }) => {
				const { paths, isPartial } = await session.send({ type: "files.find", query });
				return { paths: [...paths], isPartial };
			}),
		"files.changes": ({ sessionId, id = null }) =>
			use(sessionId, async ({ session }) => {
				const { turns } = await session.send({ type: "files.changes", id });
				return { turns: [...turns] };
			}),
		"files.diff": ({ sessionId, id, path }) =>
			use(sessionId, ({ session }) => session.send({ type: "files.diff", id, path })),
		"files.plan": ({ sessionId, before }) =>
			use(sessionId, ({ session }) => session.send({ type: "files.plan", before })),
		"files.restore": ({ sessionId, before, conflicts = "stop" }) =>
			use(sessionId, ({ session }) => session.send({ type: "files.restore", before, conflicts })),
		"session.rewind": ({ sessionId, files = true, conversation = true, conflicts = "stop", dryRun = false, before }) =>
			use(sessionId, ({ session }) =>
				session.send({ type: "session.rewind", before, files, conversation, conflicts, dryRun }),
			),
		"turn.start": async (
			{ sessionId, input, files, options = {}, key: named, takeOver = false },
			{ turnKey, trace },
		) => {
			const whole = withFiles(input, files);
			const key = named ?? turnKey;
			const extra = { ...(key === null ? {} : { key }), ...(trace === null ? {} : { trace }), takeOver };
			return await use(sessionId, (handle) => handle.startTurn(whole, { ...options, ...extra }));
		},
		"turn.steer": async ({ sessionId, input, files }) => {
			const whole = withFiles(input, files);
			return await use(sessionId, ({ session }) => session.send({ type: "turn.steer", input: whole }));
		},
		"turn.cancel": ({ sessionId }) => use(sessionId, ({ session }) => session.send({ type: "turn.cancel" })),
		"turn-options.set": ({ sessionId, options }) =>
			use(sessionId, ({ session }) => session.send({ type: "turn-options.set", options })),
		"mode.set": ({ sessionId, mode }) => use(sessionId, ({ session }) => session.send({ type: "mode.set", mode })),
		"model.set": ({ sessionId, model, thinking }) =>
			use(sessionId, ({ session }) => session.send({ type: "model.set", model, thinking })),
		"context.add": ({ sessionId, text, name }) =>
			use(sessionId, ({ session }) => session.send({ type: "context.add", text, name })),
		"side-question.start": ({ sessionId, question }) =>
			use(sessionId, ({ session }) => session.send({ type: "side-question.start", question })),
		"side-question.cancel": ({ sessionId, id }) =>
			use(sessionId, ({ session }) => session.send({ type: "side-question.cancel", id })),
		"interaction.respond": ({ sessionId, ...response }) =>
			use(sessionId, ({ session }) => session.send({ type: "interaction.respond", ...response })),
	};
}

/** What `block` leaves out: the completed text follows. */
const outputTypes: ReadonlySet<EventType> = new Set([
	"content.delta",
	"tool-call.started",
	"tool-call.delta",
	"tool.progress",
]);

export function isWanted(grade: Grade, type: EventType): boolean {
	return grade === "delta" || !outputTypes.has(type);
}

/** Attaches a client to a session. Never makes the session wait for it. */
export async function attachPublic(
	sessions: SessionsApi,
	params: OperationParams<"session.attach">,
	scope: Scope,
): Promise<PublicAttachment> {
	const { sessionId, after, client, answers = false, grade = "delta", tools = [], hooks = [], replaces } = params;
	if (scope !== "control" && (answers || tools.length > 0 || hooks.length > 0)) {
		throw new KernelError("invalid-input", "This token may only observe: attach without answers, tools and hooks.");
	}
	const handle = await sessions.acquire(sessionId, toLookAt);
	let attachment: Attachment;
	try {
		attachment = await handle.session.attach({
			client: client ?? null,
			tools,
			capabilities: answers ? ["questions", "plan-mode"] : [],
			approves: answers,
			hooks: hooks.map(({ id, event, matcher = "", timeout = hookTime }) => ({
				kind: "client",
				subscriptionId: id,
				event,
				matcher,
				timeout,
			})),
			flow: "droppable",
			wantsProgress: grade === "delta",
			...(after === undefined ? {} : { after }),
			...(replaces === undefined ? {} : { replaces }),
		});
	} catch (thrown) {
		handle.release();
		throw thrown;
	}
	let isClosed = false;
	const { id, snapshot, tools: offered, events } = attachment;
	const { accepted, rejected } = offered;
	return {
		state: {
			clientId: id,
			snapshot: toShownSnapshot(snapshot),
			tools: { accepted: [...accepted], rejected: [...rejected] },
		},
		events,
		wants: (type) => isWanted(grade, type),
		close() {
			if (isClosed) return;
			isClosed = true;
			attachment.close();
			handle.release();
		},
	};
}

/** Whether the event is stored, or announces that the stored ones are sent again. */
export function isMilestone({ body }: AgentEvent): boolean {
	return eventDeclarations[body.type].class === "durable" || body.type === "session.reset";
}

/** Creates a session that later requests find, although nothing has happened in it yet. */
export async function createSession(
	sessions: SessionsApi,
	options: CreationOptions,
): Promise<OperationResult<"sessions.create">> {
	const handle = await sessions.create(options);
	try {
		await handle.session.send({ type: "session.establish" });
		return { sessionId: handle.session.id, workDir: handle.session.workDir };
	} finally {
		handle.release();
	}
}

export function readParams<T>(schema: v.GenericSchema<unknown, T>, params: unknown, what: string): T {
	if (!isRecord(params)) throw new KernelError("invalid-input", `${what} takes an object.`);
	const parsed = v.safeParse(schema, params);
	if (parsed.success) return parsed.output;
	const [issue] = parsed.issues;
	const place = v.getDotPath(issue);
	const isUnknown = issue.type === "strict_object" && issue.expected === "never";
	if (isUnknown) throw new KernelError("invalid-input", `${what} takes no member '${place}'.`);
	if (issue.received === "undefined") throw new KernelError("invalid-input", `${what} needs '${place}'.`);
	const expected = issue.expected === null ? "" : `; expected ${issue.expected}`;
	throw new KernelError("invalid-input", `${what} cannot take the value of '${place}'${expected}.`);
}

export async function callOperation<N extends CallableName>(
	handlers: OperationHandlers,
	name: N,
	params: unknown,
	origin: CallOrigin,
): Promise<unknown> {
	const schema: v.GenericSchema<unknown, OperationParams<N>> = operations[name].params;
	return await handlers[name](readParams(schema, params, name), origin);
}

export function isCallable(name: string): name is CallableName {
	return Object.hasOwn(operations, name) && name !== "session.attach";
}

export async function nothing(work: Promise<void>): Promise<null> {
	await work;
	return null;
}

const startingModes: Readonly<Record<SessionMode, StartingMode>> = {
	default: { planMode: false, approvesEverything: false, isAway: false },
	plan: { planMode: true },
	auto: { isAway: true },
	yolo: { approvesEverything: true },
};

export function toCreationOptions(params: OperationParams<"sessions.create">): CreationOptions {
	const { mode, grants, whenUnattended, owner, needs, budgets, ...others } = params;
	const isPlaced = owner !== undefined || needs !== undefined;
	const permissions = {
		...(grants === undefined ? {} : { grants }),
		...(whenUnattended === undefined ? {} : { whenUnattended }),
	};
	return {
		...plainCreation,
		...others,
		...(isPlaced ? { placement: { owner: owner ?? "", needs: needs ?? [] } } : {}),
		...(mode === undefined ? {} : { mode: startingModes[mode] }),
		...(Object.keys(permissions).length === 0 ? {} : { permissions }),
		budgets: { ...plainCreation.budgets, ...budgets },
	};
}

export function toShownSnapshot(snapshot: SessionSnapshot): OperationResult<"session.snapshot"> {
	// Only one dialect lets a client choose it.
	const { thinkingBudget: _, ...shown } = snapshot;
	return {
		...shown,
		openInteractions: snapshot.openInteractions.map(toPublicEvent),
		unfinished: snapshot.unfinished.map(({ body, ...origin }) => ({ ...origin, ...body })),
		clients: [...snapshot.clients],
	};
}
