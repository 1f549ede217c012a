// The sessions of a kernel as a client of the gateway reaches them, for the running test. What the gateway does not offer fails.

import type { SessionApi, SessionHandle, SessionsApi } from "../../../src/api/kernel.ts";
import type { CreationOptions, OpeningOptions } from "../../../src/api/session-options.ts";
import type { SessionInfo } from "../../../src/api/session-state.ts";
import { KernelError } from "../../../src/base/errors.ts";
import { type GatewayWay, reachSession, serveFor, withOwn } from "./gateway-session.ts";

export async function sessionsOverGateway(sessions: SessionsApi): Promise<SessionsApi> {
	const way = await serveFor((watch) => {
		const watched = (handle: SessionHandle) => withOwn(handle, { session: watch(handle.session) });
		return withOwn(sessions, {
			create: async (options: CreationOptions) => watched(await sessions.create(options)),
			acquire: async (id: string, options?: OpeningOptions) => watched(await sessions.acquire(id, options)),
		});
	});
	const reached = new Map<string, SessionApi>();
	const sessionOf = (id: string, workDir: string): SessionApi => {
		const session = reached.get(id) ?? reach(id, workDir, way);
		reached.set(id, session);
		return session;
	};
	const loaded = async () => (await way.call("sessions.loaded")) as readonly SessionInfo[];
	const toHandle = async (id: string, workDir: string): Promise<SessionHandle> => {
		const info = (await loaded()).find((each) => each.id === id);
		const unknown = { id, workDir, model: "", provider: "", isRunning: false, isWaiting: false, labels: {} };
		return {
			session: sessionOf(id, workDir),
			info: info ?? unknown,
			startTurn: async (input, options = {}) =>
				(await way.call("turn.start", { sessionId: id, input, ...options })) as { turnId: string },
			// A request holds its session no longer than it takes.
			release() {},
			discard: async () => {},
		};
	};
	return withOwn(unoffered<SessionsApi>(), {
		takesEditorFiles: false,
		async create(options: CreationOptions) {
			const { sessionId, workDir } = (await way.call("sessions.create", toParams(options))) as {
				sessionId: string;
				workDir: string;
			};
			return await toHandle(sessionId, workDir);
		},
		async acquire(id: string, { archived = false }: OpeningOptions = {}) {
			// Whoever only looks sees archived ones as well: a request that would change it says whether it can be used.
			const probe = { sessionId: id, id: "none" };
			if (!archived) {
				await way.call("queue.remove", probe).catch((thrown: unknown) => {
					if (!(thrown instanceof KernelError) || thrown.code !== "invalid-input") throw thrown;
				});
			}
			const { workDir } = (await way.call("session.snapshot", { sessionId: id })) as { workDir: string };
			return await toHandle(id, workDir);
		},
		async fork(id: string, { cut }: { readonly cut?: { readonly messages: number } } = {}) {
			const fork = await way.call("sessions.fork", { sessionId: id, ...cut });
			const { sessionId, left, reasons } = fork as { sessionId: string; left: []; reasons: [] };
			return { id: sessionId, left, reasons };
		},
		loaded,
		list: (query: Parameters<SessionsApi["list"]>[0]) => way.call("sessions.list", query),
		models: () => way.call("models.list"),
		async interrupt(id: string) {
			try {
				await way.call("turn.cancel", { sessionId: id });
				return true;
			} catch (thrown) {
				if (thrown instanceof KernelError && thrown.code === "no-turn") return false;
				throw thrown;
			}
		},
		archive: (id: string) => way.call("sessions.archive", { sessionId: id }),
		unarchive: (id: string) => way.call("sessions.unarchive", { sessionId: id }),
		delete: (id: string) => way.call("sessions.delete", { sessionId: id }),
		// Whoever ends the server does it, and no client.
		stop: () => sessions.stop(),
	});
}

function reach(id: string, workDir: string, way: GatewayWay): SessionApi {
	const base = withOwn(unoffered<SessionApi>(), {
		id,
		workDir,
	});
	return reachSession(base, id, way);
}

/** The options that a client of the gateway has. */
function toParams({
	workDir,
	additionalDirs,
	model,
	thinking,
	agent,
	systemPrompt,
	maxSteps,
	labels,
}: CreationOptions) {
	const options = { workDir, additionalDirs, model, thinking, agent, systemPrompt, maxSteps, labels };
	return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined && value !== null));
}

/** Every member of it fails. */
function unoffered<T extends object>(): T {
	const fail = (name: string) => async (): Promise<never> => {
		throw new Error(`The gateway does not offer ${name}.`);
	};
	return new Proxy({}, { get: (_, key) => (typeof key === "symbol" || key === "then" ? undefined : fail(key)) }) as T;
}
