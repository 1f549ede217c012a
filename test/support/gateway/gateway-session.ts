// A session as a client of the gateway reaches it: methods by POST, events by a stream. What the gateway does not offer fails.
import { setImmediate as nextTurn } from "node:timers/promises";
import { onTestFinished } from "vitest";
import type { Clock } from "../../../src/base/clock.ts";
import { createDeferred, type Deferred } from "../../../src/base/deferred.ts";
import { silentLog } from "../../../src/base/log.ts";
import type { AgentEvent } from "../../../src/events/event.ts";
import { heartbeat, mergeSpan } from "../../../src/gateway/event-stream.ts";
import { startGateway } from "../../../src/gateway/gateway.ts";
import type { GatewayEvent } from "../../../src/gateway/gateway-event.ts";
import { createQueueStore } from "../../../src/gateway/queue-store.ts";
import type { Attachment, AttachOptions, SessionApi, SessionSnapshot } from "../../../src/kernel/api.ts";
import { offerSession } from "../host/remote-sessions.ts";
import { createMemoryFiles } from "../store/memory-files.ts";
import { GatewayClient, type Stream, type StreamMessage } from "./gateway-client.ts";
import { control } from "./gateway-place.ts";

/** The way to a session over HTTP, for the running test. */
export async function overGateway(session: SessionApi): Promise<SessionApi> {
	const attachments = new Map<string, { readonly attachment: Attachment; readonly closed: Deferred<void> }>();
	const watched = withOwn(session, {
		async attach(options: AttachOptions): Promise<Attachment> {
			const attachment = await session.attach(options);
			const closed = createDeferred<void>();
			attachments.set(attachment.id, { attachment, closed });
			const close = () => {
				attachment.close();
				closed.resolve();
			};
			return { ...attachment, drained: () => attachment.drained(), close };
		},
	});
	const clock = createHeldClock();
	const gateway = await startGateway({
		sessions: offerSession(watched),
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
	const call = async (method: string, params: object = {}): Promise<Record<string, unknown>> => {
		await Promise.all(departing);
		return await client.result(method, { sessionId: session.id, ...params });
	};
	const attach = async (options: AttachOptions): Promise<Attachment> => {
		await Promise.all(departing);
		const answers = options.approves !== false || options.capabilities.length > 0;
		const query = new URLSearchParams({
			client: options.client?.name ?? "",
			role: answers ? "control" : "observe",
		});
		const { after } = options;
		const cursor = after === undefined ? "" : `@${after.epoch}:${after.seq}`;
		const stream = await client.stream(`sessions=${session.id}${cursor}&${query}`);
		const { data } = await stream.until(({ name }) => name === "state");
		const { clientId, snapshot } = data as { clientId: string; snapshot: object };
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
				departing.add(known.closed.promise);
				void known.closed.promise.then(() => departing.delete(known.closed.promise));
			},
		};
	};
	const send = async (command: { readonly type: string }): Promise<unknown> => {
		const { type, ...params } = command;
		if (type === "plan-mode.set") return await call("mode.set", { mode: "plan" });
		return await call(type, params);
	};
	return withOwn(session, {
		attach,
		send,
		snapshot: async () => toSnapshot(await call("session.snapshot")),
		async *events() {
			const { body } = await client.send({ path: `/sessions/${session.id}/history?limit=1000` });
			yield (body as { events: GatewayEvent[] }).events.map(toEvent);
		},
	});
}

/** The session with some members of its own. */
function withOwn(session: SessionApi, own: object): SessionApi {
	return new Proxy(session, {
		get(target, key) {
			if (Object.hasOwn(own, key)) return Reflect.get(own, key);
			const value: unknown = Reflect.get(target, key, target);
			return typeof value === "function" ? value.bind(target) : value;
		},
	});
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

function toSnapshot(given: object): SessionSnapshot {
	const { openInteractions, unfinished, ...others } = given as Omit<
		SessionSnapshot,
		"openInteractions" | "unfinished"
	> & {
		openInteractions: GatewayEvent[];
		unfinished: GatewayEvent[];
	};
	return {
		...others,
		openInteractions: openInteractions.map(toEvent),
		unfinished: unfinished.map(({ agentPath, ...body }) => ({ agentPath, body: body as AgentEvent["body"] })),
	};
}

function toEvent({ sessionId, turnId, agentPath, at, seq, epoch, ...body }: GatewayEvent): AgentEvent {
	const place = seq === undefined ? {} : { seq };
	const history = epoch === undefined ? {} : { epoch };
	return { sessionId, turnId, agentPath, at, ...place, ...history, body: body as AgentEvent["body"] };
}

async function* eventsOf(stream: Stream): AsyncGenerator<readonly AgentEvent[]> {
	let taken = 0;
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
	if (name === "e" || name === "v") return toEvent(data as unknown as GatewayEvent);
	if (name !== "reset") return null;
	return { sessionId: String(data["sessionId"]), turnId: null, agentPath: [], at: 0, body: { type: "session.reset" } };
}
