import type * as v from "valibot";
import type { SessionsApi } from "../../api/kernel.ts";
import {
	type CallOrigin,
	callOperation,
	createOperationHandlers,
	createSession,
	readParams,
	toCreationOptions,
	withSession,
} from "../shared/public-operations.ts";
import { isOwnMethod, type MethodName, type OwnMethodName, ownMethods, type Params, type Result } from "./protocol.ts";
import type { PromptQueues } from "./queues/prompt-queues.ts";
import type { SessionQueue } from "./queues/session-queue.ts";
import { available, type Setup, SignIn } from "./setup.ts";

/** The running workers, each with the reason why it is unusable here; absent if usable. */
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

/** Completes a directory path; same result as `directories.find`. */
export type FindDirectories = (
	typed: string,
) => Promise<{ readonly path: string; readonly directories: readonly string[] }>;

export interface MethodParts {
	readonly sessions: SessionsApi;
	readonly workers?: ListWorkers;
	readonly queues: Pick<PromptQueues, "use">;
	readonly setup: Setup | null;
	readonly findDirectories?: FindDirectories;
	readonly server: { readonly name: string; readonly version: string };
}

type OwnHandlers = { readonly [N in OwnMethodName]: (params: Params<N>, origin: CallOrigin) => Promise<Result<N>> };

/** Calls a method with unvalidated params. Fails with a KernelError; `invalid-input` names the faulty place. */
export type CallMethod = (name: MethodName, params: unknown, origin: CallOrigin) => Promise<unknown>;

export function createMethods({ sessions, workers, queues, setup, findDirectories, server }: MethodParts): CallMethod {
	const queueOf = <R>(id: string, work: (queue: SessionQueue) => Promise<R>) =>
		withSession(sessions, id, {}, () => queues.use(id, work));
	const signIn = new SignIn(setup);
	const shared = createOperationHandlers({ sessions, server });
	const handlers = {
		...shared,
		"sessions.delete": async (params: Params<"sessions.delete">, origin: CallOrigin) => {
			await shared["sessions.delete"](params, origin);
			await queues.use(params.sessionId, (queue) => queue.clear());
			return null;
		},
	};
	const own: OwnHandlers = {
		"models.offered": async (entry) => ({ models: [...(await available(setup).offered(entry))] }),
		"models.configure": async (entry) => ({ alias: await available(setup).add(entry) }),
		"account.sign-in": async () => signIn.start(),
		"account.status": async () => signIn.state,
		"account.cancel": async () => signIn.cancel(),
		"sessions.demo": async () => {
			const { workDir, model, input } = await available(setup).createDemo();
			return { ...(await createSession(sessions, toCreationOptions({ workDir, model }))), input };
		},
		"directories.find": async ({ typed }) => {
			const { path, directories } = (await findDirectories?.(typed)) ?? { path: typed, directories: [] };
			return { path, directories: [...directories] };
		},
		"workers.list": async () => {
			const running = await workers?.();
			return running?.map(({ tags, ...worker }) => ({ ...worker, tags: [...tags] })) ?? null;
		},
		"queue.list": ({ sessionId }) =>
			withSession(sessions, sessionId, { archived: true }, () => queues.use(sessionId, async (queue) => queue.shown())),
		"queue.add": ({ sessionId, input, files = [] }, { turnKey }) =>
			queueOf(sessionId, (queue) => queue.add(input, files, turnKey ?? undefined)),
		"queue.change": ({ sessionId, id, input }) => queueOf(sessionId, (queue) => queue.change(id, input)),
		"queue.remove": ({ sessionId, id }) => queueOf(sessionId, (queue) => queue.remove(id)),
		"queue.send": ({ sessionId, id }) => queueOf(sessionId, (queue) => queue.send(id)),
	};
	const callOwn = async <N extends OwnMethodName>(name: N, params: unknown, origin: CallOrigin): Promise<unknown> => {
		const schema: v.GenericSchema<unknown, Params<N>> = ownMethods[name].params;
		return await own[name](readParams(schema, params, name), origin);
	};
	return (name, params, origin) =>
		isOwnMethod(name) ? callOwn(name, params, origin) : callOperation(handlers, name, params, origin);
}
