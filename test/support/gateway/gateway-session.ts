// A session as a client of the gateway reaches it: methods by POST, events by a stream. What the gateway does not offer fails.
import { setImmediate as nextTurn } from "node:timers/promises";
import { onTestFinished } from "vitest";
import type { Attachment, SessionApi, SessionsApi } from "../../../src/api/kernel.ts";
import type { AttachOptions } from "../../../src/api/session-options.ts";
import type { SessionSnapshot } from "../../../src/api/session-state.ts";
import type { AgentEvent, Cursor } from "../../../src/api/values/event.ts";
import type { Clock } from "../../../src/base/clock.ts";
import { createDeferred, type Deferred } from "../../../src/base/deferred.ts";
import { KernelError, kernelErrorCodes } from "../../../src/base/errors.ts";
import { isRecord } from "../../../src/base/json.ts";
import { silentLog } from "../../../src/base/log.ts";
import { startGateway } from "../../../src/frontends/gateway/gateway.ts";
import { createQueueStore } from "../../../src/frontends/gateway/queues/queue-store.ts";
import { heartbeat, mergeSpan } from "../../../src/frontends/gateway/streams/event-stream.ts";
import type { PublicEvent } from "../../../src/frontends/shared/public-event.ts";
import { offerSession } from "../host/remote-sessions.ts";
import { createMemoryFiles } from "../store/memory-files.ts";
import { GatewayClient, type Stream, type StreamMessage } from "./gateway-client.ts";
import { control } from "./gateway-place.ts";

/** The way of a client to what a gateway serves. */
export interface GatewayWay {
	/** The result of a method. Fails with a KernelError. */
	call(method: string, params?: object): Promise<unknown>;
	attach(sessionId: string, options: AttachOptions): Promise<Attachment>;
	/** The stored events after this one, or all, oldest first. */
	history(sessionId: string, after?: Cursor): AsyncGenerator<readonly AgentEvent[]>;
}

/** The way to a session over HTTP, for the running test. */
export async function overGateway(session: SessionApi): Promise<SessionApi> {
	const way = await serveFor((watch) => offerSession(watch(session)));
	return reachSession(session, session.id, way);
}

/** The members that the gateway offers in place of those of the base. */
export function reachSession(base: SessionApi, id: string, way: GatewayWay): SessionApi {
	return withOwn(base, {
		attach: (options: AttachOptions) => way.attach(id, options),
		send({ type, ...params }: { readonly type: string }): Promise<unknown> {
			// A session that was created by a request is found by the next.
			if (type === "session.establish") return Promise.resolve(null);
			if (type === "tasks.list") {
				const listing = way.call("session.background-tasks", { sessionId: id });
				return listing.then((tasks) => ({ tasks, hasNews: false }));
			}
			if (type === "plan-mode.set") return way.call("mode.set", { sessionId: id, mode: "plan" });
			return way.call(methodNames[type] ?? type, { sessionId: id, ...params });
		},
		snapshot: async () => toSnapshot(await way.call("session.snapshot", { sessionId: id })),
		events: (after?: Cursor) => way.history(id, after),
	});
}

/** The methods of the commands that have another name there. */
const methodNames: Readonly<Record<string, string>> = {
	"session.describe": "session.description",
	"title.set": "sessions.rename",
	"task.stop": "background-task.stop",
};

/** Serves sessions for the running test; what clients do to a session is noticed where it was given to `watch`. */
export async function serveFor(
	toSessions: (watch: (session: SessionApi) => SessionApi) => SessionsApi,
): Promise<GatewayWay> {
	const attachments = new Map<string, { readonly attachment: Attachment; readonly closed: Deferred<void> }>();
	const watched = new WeakMap<SessionApi, SessionApi>();
	const watch = (session: SessionApi): SessionApi => {
		const known = watched.get(session) ?? watchAttachments(session, attachments);
		watched.set(session, known);
		return known;
	};
	const clock = createHeldClock();
	const gateway = await startGateway({
		sessions: toSessions(watch),
		server: { name: "agentwire", version: "1.2.3" },
		address: "127.0.0.1",
		port: 0,
		names: [],
		tls: null,
		page: null,
		setup: null,
		queues: createQueueStore("/share/queues", createMemoryFiles(), silentLog),
		tokens: { scopeOf: async () => "control", find: async () => null, prepare: async () => {} },
		converse: async () => {},
		clock,
		log: silentLog,
	});
	onTestFinished(() => gateway.close());
	const client = new GatewayClient(gateway.port, control);
	/** Streams that the client has closed and the gateway may not know of yet. */
	const departing = new Set<Promise<void>>();
	return {
		async call(method, params = {}) {
			await Promise.all(departing);
			const body = await client.call(method, params);
			if (!isRecord(body)) throw new Error(`${method} was answered ${JSON.stringify(body)}`);
			if (isRecord(body["error"])) throw toError(body["error"]);
			return body["result"];
		},
		async attach(sessionId, options) {
			await Promise.all(departing);
			const answers = options.approves !== false || options.capabilities.length > 0;
			const query = new URLSearchParams({
				client: options.client?.name ?? "",
				role: answers ? "control" : "observe",
			});
			const { after } = options;
			const cursor = after === undefined ? "" : `@${after.epoch}:${after.seq}`;
			const stream = await client.stream(`sessions=${sessionId}${cursor}&${query}`);
			const { data } = await stream.until(({ name }) => name === "state");
			const { clientId, snapshot } = data as { clientId: string; snapshot: object };
			// Nothing is read before somebody asks for the events.
			stream.pause();
			const known = attachments.get(clientId);
			if (known === undefined) throw new Error("The stream names no client of the session.");
			return {
				id: clientId,
				snapshot: toSnapshot(snapshot),
				tools: { accepted: [], rejected: [] },
				events: eventsOf(stream),
				async drained() {
					await known.attachment.drained();
					// What waits to be merged is written first.
					await nextTurn();
					const before = stream.comments.length;
					// A sign of life comes after everything that was written before it.
					clock.pass();
					while (stream.comments.length === before) await nextTurn();
				},
				close() {
					stream.close();
					const gone = known.closed.promise;
					departing.add(gone);
					void gone.then(() => departing.delete(gone));
				},
			};
		},
		async *history(sessionId, { seq: last } = { epoch: "", seq: 0 }) {
			const pages: AgentEvent[][] = [];
			let before: number | null = null;
			do {
				const place: string = before === null ? "" : `&before=${before}`;
				const { body } = await client.send({ path: `/sessions/${sessionId}/history?limit=1000${place}` });
				const page = body as { events: PublicEvent[]; before: number | null };
				pages.unshift(page.events.filter(({ seq = 0 }) => seq > last).map(toEvent));
				before = page.before;
			} while (before !== null);
			yield* pages;
		},
	};
}

function watchAttachments(
	session: SessionApi,
	attachments: Map<string, { readonly attachment: Attachment; readonly closed: Deferred<void> }>,
): SessionApi {
	return withOwn(session, {
		async attach(options: AttachOptions): Promise<Attachment> {
			const attachment = await session.attach(options);
			const closed = createDeferred<void>();
			attachments.set(attachment.id, { attachment, closed });
			const close = () => {
				attachment.close();
				// What held the session is given back by then.
				setImmediate(() => closed.resolve());
			};
			return { ...attachment, drained: () => attachment.drained(), close };
		},
	});
}

/** The object with some members of its own. */
export function withOwn<T extends object>(base: T, own: object): T {
	return new Proxy(base, {
		get(target, key) {
			if (Object.hasOwn(own, key)) return Reflect.get(own, key);
			const value: unknown = Reflect.get(target, key, target);
			return typeof value === "function" ? value.bind(target) : value;
		},
	});
}

/** The kernel's error, as `data.code` says it. */
function toError({ message, data }: Readonly<Record<string, unknown>>): Error {
	const { code, details } = isRecord(data) ? data : {};
	const known = kernelErrorCodes.find((each) => each === code);
	if (known === undefined) return new Error(String(message));
	return new KernelError(known, String(message), { data: details });
}

/** A clock that stands: nothing waits for deltas to merge, and signs of life come when the test says so. */
function createHeldClock(): Clock & { pass(): void } {
	const waiting = new Set<() => void>();
	return {
		now: () => 0,
		monotonic: () => 0,
		after(ms, run) {
			if (ms > heartbeat) return () => {};
			if (ms <= mergeSpan) {
				const handle = setImmediate(run);
				return () => clearImmediate(handle);
			}
			waiting.add(run);
			return () => void waiting.delete(run);
		},
		pass() {
			const due = [...waiting];
			waiting.clear();
			for (const run of due) run();
		},
	};
}

function toSnapshot(given: unknown): SessionSnapshot {
	const { openInteractions, unfinished, ...others } = given as Omit<
		SessionSnapshot,
		"openInteractions" | "unfinished"
	> & {
		openInteractions: PublicEvent[];
		unfinished: PublicEvent[];
	};
	return {
		...others,
		// It is not shown.
		thinkingBudget: null,
		openInteractions: openInteractions.map(toEvent),
		unfinished: unfinished.map(({ agentPath, ...body }) => ({ agentPath, body: body as AgentEvent["body"] })),
	};
}

function toEvent({ sessionId, turnId, agentPath, at, seq, epoch, ...body }: PublicEvent): AgentEvent {
	const place = seq === undefined ? {} : { seq };
	const history = epoch === undefined ? {} : { epoch };
	return { sessionId, turnId, agentPath, at, ...place, ...history, body: body as AgentEvent["body"] };
}

async function* eventsOf(stream: Stream): AsyncGenerator<readonly AgentEvent[]> {
	let taken = 0;
	stream.resume();
	for (;;) {
		const message = stream.messages[taken];
		if (message === undefined) {
			const next = taken;
			const found = await stream.until((each) => stream.messages.indexOf(each) >= next).catch(() => null);
			if (found === null) return;
			continue;
		}
		taken += 1;
		const event = eventOf(message);
		if (event !== null) yield [event];
	}
}

function eventOf({ name, data }: StreamMessage): AgentEvent | null {
	if (name === "e" || name === "v") return toEvent(data as unknown as PublicEvent);
	if (name !== "reset") return null;
	return { sessionId: String(data["sessionId"]), turnId: null, agentPath: [], at: 0, body: { type: "session.reset" } };
}
