import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { isEvent, type StreamMessage } from "../../../../test/support/gateway/gateway-client.ts";
import { createGateway } from "../../../../test/support/gateway/gateway-subject.ts";
import { createFakeClock } from "../../../../test/support/host/campaign-clock.ts";
import { attachReader } from "../../../../test/support/protocol/event-reader.ts";
import { createHost } from "../../../../test/support/sessions/session-host.ts";
import { createMemoryFiles } from "../../../../test/support/store/memory-files.ts";
import type { SessionsApi } from "../../../api/kernel.ts";
import type { ClientHook } from "../../../api/values/hooks/hook.ts";
import { createDeferred } from "../../../base/deferred.ts";
import { isRecord } from "../../../base/json.ts";
import { silentLog } from "../../../base/log.ts";
import { plainRequest } from "../../../kernel/hosting/hosted-options.ts";
import type { ShownQueue } from "../protocol.ts";
import { queueLimit } from "./prompt-list.ts";
import { PromptQueues } from "./prompt-queues.ts";
import { createQueueStore } from "./queue-store.ts";

/** A hook that nobody answers: a turn waits for it until its client is gone. */
const hook: ClientHook = {
	kind: "client",
	event: "UserPromptSubmit",
	matcher: "",
	timeout: 30,
	subscriptionId: "mine",
};

/** Queues whose store is always empty, and its reads. */
function createUnstored(sessions: SessionsApi) {
	const read = vi.fn(async () => []);
	const store = { read, write: async () => {} };
	return { read, queues: new PromptQueues({ sessions, store, clock: createFakeClock(), log: silentLog }) };
}

const inputsOf = ({ data }: StreamMessage): string[] =>
	Array.isArray(data["prompts"]) ? data["prompts"].map((each) => String(isRecord(each) ? each["input"] : "")) : [];
const isQueue =
	(...inputs: string[]) =>
	(message: StreamMessage) =>
		message.name === "queue" && JSON.stringify(inputsOf(message)) === JSON.stringify(inputs);
const isTurn = (input: string) => (message: StreamMessage) =>
	message.data["type"] === "turn.started" && message.data["input"] === input;

const shownBy = (queues: PromptQueues, sessionId: string) => queues.use(sessionId, async (queue) => queue.shown());

async function createQueues() {
	const place = await createGateway({ models: { m: { provider: "p", model: "echo", max_context_size: 100_000 } } });
	const { client } = place;
	const sessionId = await client.createSession();
	const stream = await client.stream(`sessions=${sessionId}`);
	await stream.until(isQueue());
	const add = (input: string) => client.result("queue.add", { sessionId, input });
	const call = (method: string, params: object = {}) => client.call(method, { sessionId, ...params });
	/** Begins a turn that runs until `finish`. */
	const begin = async () => {
		const { session, release } = await place.host.acquire(sessionId);
		const holding = await attachReader(session, { hooks: [hook] });
		// Answered once the hook has allowed it: in some tests the gateway is gone by then.
		void client.call("turn.start", { sessionId, input: "text: first" }).catch(() => undefined);
		await holding.event("interaction.requested");
		release();
		return { finish: () => holding.attachment.close() };
	};
	return { ...place, sessionId, stream, add, call, begin };
}

describe("the queue of prompts", () => {
	it("is the same for every client, and goes on by itself when turns finish", async () => {
		const { client, watcher, sessionId, stream, add, call, begin } = await createQueues();
		const { finish } = await begin();
		const { id } = await add("text: one");
		await add("text: two");
		await stream.until(isQueue("text: one", "text: two"));
		const other = await watcher.stream(`sessions=${sessionId}`);
		await other.until(isQueue("text: one", "text: two"));
		expect(await call("queue.change", { id, input: "text: changed" })).toMatchObject({ result: null });
		await other.until(isQueue("text: changed", "text: two"));
		expect(await watcher.result("queue.list", { sessionId })).toMatchObject({
			prompts: [{ id, input: "text: changed", files: [] }, { input: "text: two" }],
			failure: null,
		});
		finish();
		await stream.until(isTurn("text: changed"));
		await stream.until(isTurn("text: two"));
		await other.until(isQueue("text: two"));
		expect(await client.result("queue.list", { sessionId })).toEqual({ prompts: [], failure: null });
	});

	it("sends at once what is added while nothing runs", async () => {
		const { stream, add } = await createQueues();
		await add("text: hello");
		expect(await stream.until(isTurn("text: hello"))).toMatchObject({ name: "e" });
	});

	it("waits after a turn that was stopped, until a person sends a prompt", async () => {
		const { stream, add, call, begin } = await createQueues();
		const { finish } = await begin();
		const { id } = await add("text: one");
		const { id: second } = await add("text: two");
		await call("turn.cancel");
		await stream.until(isEvent("turn.ended"));
		// Whatever was to follow the end would have come before the answer.
		expect(await call("queue.list")).toMatchObject({ result: { prompts: [{ id }, { id: second }] } });
		expect(await call("session.snapshot")).toMatchObject({ result: { turnId: null } });
		finish();
		expect(await call("queue.send", { id: second })).toMatchObject({ result: null });
		await stream.until(isTurn("text: two"));
		expect(await stream.until(isTurn("text: one"))).toMatchObject({ name: "e" });
	});

	it("sends a prompt to the running turn when a person wants it now", async () => {
		const { stream, add, call, begin } = await createQueues();
		const { finish } = await begin();
		const { id } = await add("text: now");
		expect(await call("queue.send", { id })).toMatchObject({ result: null });
		await stream.until(isQueue());
		finish();
		expect(await stream.until(isEvent("steer.consumed"))).toMatchObject({ data: { input: "text: now" } });
	});

	it("refuses what it cannot take, and says so of what is gone", async () => {
		const { add, call, begin } = await createQueues();
		await begin();
		const { id } = await add("text: x");
		const file = { name: "a.bin", type: "", data: Buffer.from([0, 1]).toString("base64") };
		expect(await call("queue.add", { input: "x", files: [file] })).toMatchObject({
			error: { data: { code: "invalid-input" }, message: expect.stringContaining('"a.bin"') },
		});
		expect(await call("queue.remove", { id })).toMatchObject({ result: null });
		for (const [method, more] of [
			["queue.remove", {}],
			["queue.change", { input: "x" }],
			["queue.send", {}],
		] as const) {
			expect(await call(method, { id, ...more })).toMatchObject({
				error: { message: "This prompt is no longer queued: it was sent or removed." },
			});
		}
		for (let index = 0; index < queueLimit; index += 1) await add("text: x");
		expect(await call("queue.add", { input: "text: x" })).toMatchObject({ error: { data: { code: "overloaded" } } });
	});

	it("may be seen by a token that observes, and not be changed", async () => {
		const { watcher, sessionId } = await createQueues();
		for (const method of ["queue.add", "queue.change", "queue.remove", "queue.send"] as const) {
			expect(await watcher.call(method, { sessionId, id: "q", input: "x" })).toMatchObject({
				error: { message: expect.stringContaining("a control token") },
			});
		}
	});

	it("shows the names of files, and sends their content", async () => {
		const { stream, call, begin } = await createQueues();
		const { finish } = await begin();
		const files = [{ name: "a.txt", type: "text/plain", data: Buffer.from("inner").toString("base64") }];
		await call("queue.add", { input: "text: read", files });
		const shown = await stream.until(isQueue("text: read"));
		expect(JSON.stringify(shown.data)).toContain('"files":[{"name":"a.txt","type":"text/plain"}]');
		finish();
		const started = await stream.until(
			({ data }) => data["type"] === "turn.started" && JSON.stringify(data["input"]).includes("read"),
		);
		expect(JSON.stringify(started.data["input"])).toContain("inner");
	});

	it("forgets what waits for a session that is deleted", async () => {
		const { files, sessionId, add, call, begin } = await createQueues();
		await begin();
		await add("text: x");
		const file = `/share/queues/${sessionId}.json`;
		expect(await files.read(file)).not.toBeNull();
		await call("sessions.delete");
		expect(await files.read(file)).toBeNull();
	});
});

describe("PromptQueues", () => {
	it("refuses a change with which all prompts of a session would be too long", async () => {
		const { host } = await createHost();
		const prompt = (id: string, input: string) => ({ id, input, files: [], at: 0 });
		const store = {
			read: async () => [prompt("a", "x"), prompt("b", "x".repeat(20 * 1024 * 1024))],
			write: async () => {},
		};
		const queues = new PromptQueues({
			sessions: host,
			store,
			clock: createFakeClock(),
			log: silentLog,
		});
		await expect(queues.use("s", (queue) => queue.change("a", "x".repeat(15 * 1024 * 1024)))).rejects.toMatchObject({
			code: "overloaded",
		});
		await queues.use("s", (queue) => queue.change("a", "changed"));
		expect((await shownBy(queues, "s")).prompts[0]).toMatchObject({ id: "a", input: "changed" });
	});

	it("forgets a session that nobody looks at and for which nothing waits", async () => {
		const { host } = await createHost();
		const { read, queues } = createUnstored(host);
		const shown = createDeferred<ShownQueue>();
		const stop = queues.watch("s", shown.resolve);
		expect(await shown.promise).toEqual({ prompts: [], failure: null });
		stop();
		await nextTurn();
		await shownBy(queues, "s");
		expect(read).toHaveBeenCalledTimes(2);
	});

	it("forgets a session once what waited for it was sent", async () => {
		const { host } = await createHost();
		const { session, release } = await host.create(plainRequest);
		await session.send({ type: "session.establish" });
		const client = await attachReader(session);
		release();
		const { read, queues } = createUnstored(host);
		await queues.use(session.id, (queue) => queue.add("text: one", []));
		await client.event("turn.ended");
		await nextTurn();
		await shownBy(queues, session.id);
		expect(read).toHaveBeenCalledTimes(2);
	});
});

describe("a queue whose session's events cannot be read", () => {
	/** A turn runs that waits for the client's hook, and a prompt waits for its end. */
	async function createBroken() {
		const { host } = await createHost();
		const handle = await host.create(plainRequest);
		const { session } = handle;
		const watching = await attachReader(session);
		const holding = await attachReader(session, { hooks: [hook] });
		// Answered once the hook has allowed it.
		const started = handle.startTurn("text: first");
		await holding.event("interaction.requested");

		let broken = createDeferred<never>();
		let failures = 0;
		const attach = session.attach.bind(session);
		vi.spyOn(session, "attach").mockImplementation(async (options) => {
			const attachment = await attach(options);
			const events = attachment.events[Symbol.asyncIterator]();
			const next = async () => {
				failures -= 1;
				if (failures >= 0) throw new Error("the disk does not answer");
				return await Promise.race([events.next(), broken.promise]);
			};
			return { ...attachment, events: { [Symbol.asyncIterator]: () => ({ next }) } };
		});
		const clock = createFakeClock();
		const store = { read: async () => [], write: async () => {} };
		const queues = new PromptQueues({ sessions: host, store, clock, log: silentLog });
		await queues.use(session.id, (queue) => queue.add("text: second", []));
		return {
			session,
			started,
			holding,
			watching,
			queues,
			/** The events cannot be read any more, nor those of so many later attachments. */
			breakEvents(later: number) {
				failures = later;
				broken.promise.catch(() => {});
				broken.reject(new Error("the disk does not answer"));
				broken = createDeferred();
			},
			/** Lets the time pass after which the queue tries again. */
			async tryAgain(milliseconds: number) {
				while (clock.waiting() === 0) await nextTurn();
				clock.advance(milliseconds);
			},
		};
	}

	it("sends what waits although the turn finished meanwhile", async () => {
		const { session, started, holding, watching, queues, breakEvents, tryAgain } = await createBroken();
		breakEvents(1);
		holding.attachment.close();
		await started;
		await watching.event("turn.ended");
		await tryAgain(1000);
		await tryAgain(2000);
		expect(await watching.event("turn.started", 2)).toMatchObject({ body: { input: "text: second" } });
		await watching.event("turn.ended", 2);
		expect(await shownBy(queues, session.id)).toEqual({ prompts: [], failure: null });
	});

	it("sends nothing after a turn that was stopped meanwhile", async () => {
		const { session, started, queues, breakEvents, tryAgain } = await createBroken();
		breakEvents(0);
		await session.send({ type: "turn.cancel" });
		await started;
		await session.idle();
		await tryAgain(1000);
		expect(await shownBy(queues, session.id)).toMatchObject({ prompts: [{ input: "text: second" }], failure: null });
		expect(session.turnId).toBeNull();
	});
});

describe("createQueueStore", () => {
	const prompt = { id: "q", input: "later", files: [], at: 1 };

	it("gives a later process what waited", async () => {
		const files = createMemoryFiles();
		await createQueueStore("/queues", files, silentLog).write("s/1", [prompt]);
		const later = createQueueStore("/queues", files, silentLog);
		expect(await later.read("s/1")).toEqual([prompt]);
		expect(await later.read("other")).toEqual([]);
		await later.write("s/1", []);
		expect(await later.read("s/1")).toEqual([]);
	});

	it("begins with none where a file is damaged", async () => {
		const files = createMemoryFiles();
		await files.makeDirectory("/queues");
		await files.replace("/queues/s.json", '{"prompts":[{"id":');
		expect(await createQueueStore("/queues", files, silentLog).read("s")).toEqual([]);
	});
});
