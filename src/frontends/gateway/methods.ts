// The methods of the gateway, on the kernel API. A session is held for the time of a request alone: one that runs is not
// unloaded, and whoever wants its events has a stream that holds it.
import * as v from "valibot";
import type { SessionMode } from "../../api/values/session-mode.ts";
import { KernelError } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import type { CreationOptions, OpeningOptions, SessionHandle, SessionsApi, StartingMode } from "../../kernel/api.ts";
import type { Scope } from "./access/tokens.ts";
import { withFiles } from "../shared/prompt-files.ts";
import type { PromptQueues } from "./prompt-queues.ts";
import {
	gatewayVersion,
	type MethodName,
	methods,
	type Params,
	type Result,
	toShownQueue,
	toShownSnapshot,
} from "./protocol.ts";
import { available, type Setup, SignIn } from "./setup.ts";

/** The workers that run, each with the reason why it cannot be used here; that is absent when it can. */
export type ListWorkers = () => Promise<
	readonly {
		readonly id: string;
		readonly address: string;
		readonly tags: readonly string[];
		readonly remoteVersion: number | null;
		readonly isEnding: boolean;
		readonly notUsable?: string;
	}[]
>;

export interface MethodParts {
	readonly sessions: SessionsApi;
	/** The workers that run the sessions; absent where this process does. */
	readonly workers?: ListWorkers;
	readonly queues: Omit<PromptQueues, "watch" | "close">;
	readonly setup: Setup | null;
	readonly server: { readonly name: string; readonly version: string };
}

/** Where a request came from, besides its params. */
export interface CallOrigin {
	readonly scope: Scope;
	/** What names the turn that the request starts, from its `Idempotency-Key`: every gateway makes the same of it. Null without. */
	readonly turnKey: string | null;
	/** The place in a trace for the turn that it starts; null for none. */
	readonly trace: string | null;
}

type Handlers = { readonly [N in MethodName]: (params: Params<N>, origin: CallOrigin) => Promise<Result<N>> };

/** Calls a method with params as they came. Fails with a KernelError; `invalid-input` names the place of what is wrong. */
export type CallMethod = (name: MethodName, params: unknown, origin: CallOrigin) => Promise<unknown>;

/** Also an archived session can be looked at. */
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

export function createMethods({ sessions, workers, queues, setup, server }: MethodParts): CallMethod {
	const look = <R>(id: string, work: (handle: SessionHandle) => Promise<R>) =>
		withSession(sessions, id, toLookAt, work);
	const use = <R>(id: string, work: (handle: SessionHandle) => Promise<R>) => withSession(sessions, id, {}, work);
	const signIn = new SignIn(setup);
	const handlers: Handlers = {
		"server.info": async (_, { scope }) => ({ ...server, protocol: gatewayVersion, scope }),
		"models.list": () => sessions.models(),
		"models.offered": async (entry) => ({ models: [...(await available(setup).offered(entry))] }),
		"models.configure": async (entry) => ({ alias: await available(setup).add(entry) }),
		"account.sign-in": async () => signIn.start(),
		"account.status": async () => signIn.state,
		"account.cancel": async () => signIn.cancel(),
		"sessions.demo": async () => {
			const { workDir, model, input } = await available(setup).createDemo();
			const handle = await sessions.create(toCreationOptions({ workDir, model }));
			try {
				await handle.session.establish();
				return { sessionId: handle.session.id, workDir: handle.session.workDir, input };
			} finally {
				handle.release();
			}
		},
		"sessions.list": (query) => sessions.list(query),
		"sessions.loaded": async () => [...(await sessions.loaded())],
		"workers.list": async () => {
			const running = await workers?.();
			return running?.map(({ tags, ...worker }) => ({ ...worker, tags: [...tags] })) ?? null;
		},
		"sessions.create": async (params) => {
			const handle = await sessions.create(toCreationOptions(params));
			try {
				// Whoever creates a session by one request expects to find it by the next.
				await handle.session.establish();
				return { sessionId: handle.session.id, workDir: handle.session.workDir };
			} finally {
				handle.release();
			}
		},
		"sessions.fork": async ({ sessionId, messages }) => {
			const id = await sessions.fork(sessionId, messages === undefined ? {} : { cut: { messages } });
			return await look(id, async ({ session }) => ({ sessionId: session.id, workDir: session.workDir }));
		},
		"sessions.rename": ({ sessionId, title }) =>
			look(sessionId, ({ session }) => session.send({ type: "title.set", title })),
		"sessions.archive": ({ sessionId }) => nothing(sessions.archive(sessionId)),
		"sessions.delete": async ({ sessionId }) => {
			await sessions.delete(sessionId);
			await queues.drop(sessionId);
			return null;
		},
		"session.snapshot": ({ sessionId }) =>
			look(sessionId, async ({ session }) => toShownSnapshot(await session.snapshot())),
		"session.description": ({ sessionId }) => look(sessionId, ({ session }) => session.description()),
		"session.background-tasks": ({ sessionId }) =>
			look(sessionId, async ({ session }) => [...(await session.backgroundTasks())]),
		"background-task.stop": ({ sessionId, id }) =>
			look(sessionId, ({ session }) => session.send({ type: "task.stop", id })),
		"files.find": ({ sessionId, query }) =>
			look(sessionId, async ({ session }) => {
				const { paths, isPartial } = await session.send({ type: "files.find", query });
				return { paths: [...paths], isPartial };
			}),
		"turn.start": async ({ sessionId, input, files, key: named }, { turnKey, trace }) => {
			const whole = withFiles(input, files);
			const key = named ?? turnKey;
			const options = { ...(key === null ? {} : { key }), ...(trace === null ? {} : { trace }) };
			return await use(sessionId, (handle) => handle.startTurn(whole, options));
		},
		"turn.steer": async ({ sessionId, input, files }) => {
			const whole = withFiles(input, files);
			return await use(sessionId, ({ session }) => session.send({ type: "turn.steer", input: whole }));
		},
		"turn.cancel": ({ sessionId }) => use(sessionId, ({ session }) => session.send({ type: "turn.cancel" })),
		"queue.list": ({ sessionId }) => look(sessionId, async () => toShownQueue(await queues.list(sessionId))),
		"queue.add": ({ sessionId, input, files = [] }, { turnKey }) =>
			use(sessionId, () => queues.add(sessionId, input, files, turnKey)),
		"queue.change": ({ sessionId, id, input }) => use(sessionId, () => queues.change(sessionId, id, input)),
		"queue.remove": ({ sessionId, id }) => use(sessionId, () => queues.remove(sessionId, id)),
		"queue.send": ({ sessionId, id }) => use(sessionId, () => queues.send(sessionId, id)),
		"mode.set": ({ sessionId, mode }) => use(sessionId, ({ session }) => session.send({ type: "mode.set", mode })),
		"model.set": ({ sessionId, model, thinking }) =>
			use(sessionId, ({ session }) => session.send({ type: "model.set", model, thinking })),
		"side-question.start": ({ sessionId, question }) =>
			use(sessionId, ({ session }) => session.send({ type: "side-question.start", question })),
		"interaction.respond": ({ sessionId, ...response }) =>
			use(sessionId, ({ session }) => session.send({ type: "interaction.respond", ...response })),
	};
	const call = async <N extends MethodName>(name: N, params: unknown, origin: CallOrigin): Promise<unknown> => {
		const schema: v.GenericSchema<unknown, Params<N>> = methods[name].params;
		return await handlers[name](readParams(schema, params, name), origin);
	};
	return call;
}

/** The params of a method or a body, checked. Fails `invalid-input`. */
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
	throw new KernelError("invalid-input", `${what} cannot take what '${place}' is${expected}.`);
}

async function nothing(work: Promise<void>): Promise<null> {
	await work;
	return null;
}

const startingModes: Readonly<Record<SessionMode, StartingMode>> = {
	default: { planMode: false, approvesEverything: false, isAway: false },
	plan: { planMode: true },
	auto: { isAway: true },
	yolo: { approvesEverything: true },
};

function toCreationOptions(params: Params<"sessions.create">): CreationOptions {
	const { model = null, systemPrompt = null, maxSteps = null, mode, grants, owner, needs, ...others } = params;
	const isPlaced = owner !== undefined || needs !== undefined;
	return {
		...others,
		...(isPlaced ? { placement: { owner: owner ?? "", needs: needs ?? [] } } : {}),
		...(mode === undefined ? {} : { mode: startingModes[mode] }),
		...(grants === undefined ? {} : { permissions: { grants } }),
		model,
		provider: null,
		maxAnswerTokens: null,
		maxSteps,
		systemPrompt,
		tools: "all",
		budgets: {
			sessionTokens: null,
			sessionSeconds: null,
			sessionToolCalls: null,
			turnTokens: null,
			turnSeconds: null,
			turnToolCalls: null,
		},
	};
}
