// A kernel elsewhere whose other side is slow, silent, hostile or gone: nothing hangs, and nothing is lost or leaks.
import { getEventListeners } from "node:events";
import { duplexPair } from "node:stream";
import { describe, expect, it } from "vitest";
import { connectRemote, createSocketPair, offerSession } from "../../test/support/host/remote-sessions.ts";
import { createScriptedModel, done, say } from "../../test/support/models/scripted-model.ts";
import { attachReader } from "../../test/support/protocol/event-reader.ts";
import { plainAttachment } from "../../test/support/sessions/session-doubles.ts";
import { createHost, runTurn } from "../../test/support/sessions/session-host.ts";
import { createSessionSubject } from "../../test/support/sessions/session-subject.ts";
import { createMemoryLog } from "../../test/support/store/store-directory.ts";
import type { Attachment, SessionsApi } from "../api/kernel.ts";
import { createDeferred } from "../base/deferred.ts";
import { silentLog } from "../base/log.ts";
import { plainRequest } from "../kernel/hosting/hosted-options.ts";
import { createMemoryTransport } from "../ports/transports/memory.ts";
import { createStreamTransport } from "../ports/transports/stream.ts";
import { serveKernel } from "./kernel-server.ts";
import { connectKernel } from "./remote-kernel.ts";
import { remoteVersion } from "./remote-version.ts";

const limits = { lineLimit: 104_857_600, outboxLimit: 262_144 };
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const outcome = (work: Promise<unknown>, ms = 2000): Promise<unknown> =>
	Promise.race([
		work.then(
			() => "done",
			(thrown) => thrown.code ?? String(thrown),
		),
		sleep(ms).then(() => "hangs"),
	]);

async function connect(sessions: SessionsApi, kernel = limits, frontEnd = limits) {
	const [near, far] = await createSocketPair();
	const served = serveKernel({ sessions, transport: createStreamTransport(near, kernel), log: silentLog });
	const remote = await connectKernel(createStreamTransport(far, frontEnd), silentLog);
	return { ...remote, near, far, served };
}

describe("a kernel elsewhere", () => {
	it("takes two large prompts at once", async () => {
		const create = async () => (await createSessionSubject(createScriptedModel([[say("x"), done()]]))).session;
		const [a, b] = [await create(), await create()];
		const { sessions } = await connect({
			...offerSession(a),
			acquire: (id) => offerSession(id === "b" ? b : a).acquire(id),
		});
		const one = await sessions.acquire("a");
		const two = await sessions.acquire("b");
		const client = await attachReader(one.session);
		const large = "x".repeat(20_000_000);
		const both = Promise.all([one.startTurn(large), two.startTurn(large), client.event("turn.ended")]);
		expect(await outcome(both, 10_000)).toBe("done");
	});

	it("fails a request whose answer is over the line limit", async () => {
		const { host } = await createHost();
		const handle = await host.create(plainRequest);
		const client = await attachReader(handle.session);
		await handle.startTurn(`text: ${"y".repeat(20_000)}`);
		await client.event("turn.ended");
		const { sessions } = await connect(host, limits, { ...limits, lineLimit: 10_000 });
		const { session } = await sessions.acquire(handle.session.id);
		expect(await outcome(session.conversation())).not.toBe("hangs");
	});

	it("fails a request that is over the line limit itself", async () => {
		const { host } = await createHost();
		const { sessions } = await connect(host, { ...limits, lineLimit: 10_000 });
		const { startTurn } = await sessions.create(plainRequest);
		expect(await outcome(startTurn("z".repeat(20_000)))).not.toBe("hangs");
	});

	it("fails a request whose answer is not JSON", async () => {
		const [near, far] = duplexPair();
		near.setEncoding("utf8");
		near.on("data", (text: string) => {
			const { id, method } = JSON.parse(text);
			near.write(
				method === "hello" ? `{"jsonrpc":"2.0","id":"${id}","result":{"version":${remoteVersion}}}\n` : "garbage\n",
			);
		});
		const { sessions } = await connectKernel(createStreamTransport(far, limits), silentLog);
		expect(await outcome(sessions.loaded())).not.toBe("hangs");
	});

	it("is left although the front end does not read", async () => {
		const { host } = await createHost();
		const handle = await host.create(plainRequest);
		const client = await attachReader(handle.session);
		await handle.startTurn(`text: ${"y".repeat(8_000_000)}`);
		await client.event("turn.ended");
		const [near, far] = await createSocketPair();
		const served = serveKernel({ sessions: host, transport: createStreamTransport(near, limits), log: silentLog });
		far.pause();
		const request = (id: string, method: string, params: object) =>
			void far.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
		request("1", "sessions.acquire", { id: handle.session.id, options: {} });
		await sleep(100);
		for (let n = 0; n < 5; n += 1) request(`c${n}`, "session.conversation", { session: "2" });
		await sleep(300);
		for (let n = 3; n < 8; n += 1) request(`n${n}`, "stream.next", { stream: String(n) });
		await sleep(500);
		far.end();
		expect(await outcome(served, 6000)).toBe("done");
		far.destroy();
	}, 20_000);

	it("that ends answers no request as if its own session were closed", async () => {
		const { host } = await createHost();
		const { session } = await host.create(plainRequest);
		const isAsked = createDeferred<void>();
		const isOpen = createDeferred<void>();
		const acquire: SessionsApi["acquire"] = async (id) => {
			isAsked.resolve();
			await isOpen.promise;
			return await host.acquire(id);
		};
		const [near, far] = await createSocketPair();
		const end = new AbortController();
		const served = serveKernel({
			sessions: { ...offerSession(session), acquire },
			transport: createStreamTransport(near, limits),
			log: silentLog,
			signal: end.signal,
		});
		const { sessions, lost } = await connectKernel(createStreamTransport(far, limits), silentLog);
		// What a failure means is to be read from the connection, in the moment of the failure.
		const asked = sessions.acquire(session.id).catch((thrown) => ({ code: thrown.code, isLost: lost.aborted }));
		await isAsked.promise;
		end.abort();
		isOpen.resolve();
		expect(await asked).toEqual({ code: "closed", isLost: true });
		await served;
	});

	it("is left by a front end, although the kernel does not read", async () => {
		const [near, far] = await createSocketPair();
		near.once("data", (bytes) => {
			near.write(`${JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(String(bytes)).id, result: { version: 1 } })}\n`);
			near.pause();
		});
		const { sessions, close } = await connectKernel(createStreamTransport(far, limits), silentLog);
		const waiting = outcome(sessions.acquire("x".repeat(10_000_000)), 6000);
		expect(await outcome(close(), 5000)).toBe("done");
		expect(await waiting).toBe("closed");
		near.destroy();
	}, 20_000);

	it("has the same session for an attachment that was requested before the release", async () => {
		const { host } = await createHost();
		const { sessions } = await connect(host);
		const handle = await sessions.create(plainRequest);
		const attaching = handle.session.attach(plainAttachment);
		handle.release();
		await attaching;
		expect((await sessions.acquire(handle.session.id)).session).toBe(handle.session);
		await handle.session.snapshot();
	});

	it("lets attachments that were closed at once be read to their ends", async () => {
		const { host } = await createHost();
		const { sessions } = await connect(host);
		const { session, startTurn } = await sessions.create(plainRequest);
		const attachments: Attachment[] = [];
		for (let n = 0; n < 150; n += 1) attachments.push(await session.attach({ ...plainAttachment, flow: "droppable" }));
		const client = await attachReader(session);
		await startTurn("text: hi");
		await client.event("turn.ended");
		for (const { close } of attachments) close();
		const read = async ({ events }: Attachment) => {
			for await (const _ of events);
		};
		const outcomes = [];
		for (const attachment of attachments) outcomes.push(await outcome(read(attachment)));
		expect(outcomes.filter((each) => each !== "done")).toEqual([]);
	});

	it("counts a stream that is closed again once", async () => {
		const { host } = await createHost();
		const { sessions } = await connect(host);
		const { session } = await sessions.create(plainRequest);
		const slow = await session.attach(plainAttachment);
		slow.close();
		const other = await session.attach(plainAttachment);
		for (let n = 0; n < 101; n += 1) other.close();
		for await (const _ of slow.events);
		expect(await outcome(session.snapshot())).toBe("done");
	});

	it("lets go of a session with the last use of it, also when the events of an attachment were not read to their end", async () => {
		const { host } = await createHost();
		const { sessions } = await connect(host);
		const handle = await sessions.create(plainRequest);
		await runTurn(handle);
		handle.release();
		await expect(handle.session.snapshot()).rejects.toMatchObject({ code: "closed" });
	});

	it("leaves no rejection behind when a request cannot be written", async () => {
		const unhandled: unknown[] = [];
		const note = (thrown: unknown) => void unhandled.push(thrown);
		process.on("unhandledRejection", note);
		const { host } = await createHost();
		const { sessions, close } = await connect(host);
		const { session } = await sessions.create(plainRequest);
		let deep: unknown = 1;
		for (let n = 0; n < 200_000; n += 1) deep = [deep];
		const tool = { name: "t", description: "", parameters: { deep } };
		await expect(session.attach({ ...plainAttachment, tools: [tool] })).rejects.toBeDefined();
		await close();
		await sleep(50);
		process.off("unhandledRejection", note);
		expect(unhandled).toEqual([]);
	});

	it("detaches a client whose events cannot be used: the model does not wait for it", async () => {
		const { session } = await createSessionSubject(
			createScriptedModel([[...Array.from({ length: 1000 }, () => say("x ")), done()]]),
		);
		const offered = offerSession(session);
		const strange = { sessionId: "s", turnId: null, agentPath: [], at: 1, body: { type: "an.event.of.tomorrow" } };
		const attach = session.attach.bind(session);
		session.attach = async (options) => {
			const attachment = await attach(options);
			async function* events() {
				yield [strange] as never;
				yield* attachment.events;
			}
			return { ...attachment, events: options.client === null ? events() : attachment.events };
		};
		const { sessions } = await connectRemote(offered, createSocketPair);
		const far = await (await sessions.acquire("x")).session.attach(plainAttachment);
		const reading = (async () => {
			for await (const _ of far.events);
		})();
		expect(await outcome(reading)).toBe("internal");
		const near = await attachReader(session, { called: "near" });
		await session.send({ type: "turn.start", input: "hi" });
		expect(await outcome(near.event("turn.ended"))).toBe("done");
	});

	it("reads on for nobody: what it has open for a client that is gone is closed", async () => {
		const { session } = await createSessionSubject(createScriptedModel([[say("x"), done()]]));
		const offered = offerSession(session);
		const event = { sessionId: "s", turnId: null, agentPath: [], at: 1, body: { type: "step.started", n: 1 } } as const;
		const closed = createDeferred<void>();
		const attach = session.attach.bind(session);
		session.attach = async (options) => {
			const attachment = await attach(options);
			async function* events() {
				try {
					yield [event];
					yield [event];
				} finally {
					closed.resolve();
				}
			}
			return { ...attachment, events: events() };
		};
		const { sessions, cut } = await connectRemote(offered, createSocketPair);
		const far = await (await sessions.acquire("x")).session.attach(plainAttachment);
		expect((await far.events[Symbol.asyncIterator]().next()).value).toEqual([event]);
		cut();
		expect(await outcome(closed.promise)).toBe("done");
	});

	it("closes the front end's half when the kernel has ended its own", async () => {
		const { host } = await createHost();
		const { near, far, lost } = await connect(host);
		near.end();
		while (!lost.aborted) await sleep(1);
		await sleep(2500);
		expect([far.destroyed, near.destroyed]).toEqual([true, true]);
	});

	it("notices a stream that was closed before it was served", async () => {
		const { host } = await createHost();
		const [near, far] = await createSocketPair();
		far.destroy();
		near.destroy();
		await sleep(50);
		expect(
			await outcome(serveKernel({ sessions: host, transport: createStreamTransport(near, limits), log: silentLog })),
		).toBe("done");
	});

	it("does not listen for the end of the program any more once its other side is gone", async () => {
		const { host } = await createHost();
		const { transport, client } = createMemoryTransport(100_000, 100_000);
		const { signal } = new AbortController();
		const served = serveKernel({ sessions: host, transport, log: silentLog, signal });
		client.end();
		await served;
		expect(getEventListeners(signal, "abort")).toEqual([]);
	});

	it("does not log what may be keys, when a request is cut", async () => {
		const { host } = await createHost();
		const log = createMemoryLog();
		const { transport, client } = createMemoryTransport(100_000, 100_000);
		const served = serveKernel({ sessions: host, transport, log });
		const options = { environment: { KEY: "sk-secret" }, ...plainRequest };
		const line = JSON.stringify({ jsonrpc: "2.0", method: "sessions.create", id: "1", params: { options } });
		client.write(line.slice(0, 200));
		client.end();
		await served;
		expect(JSON.stringify(log.lines)).not.toContain("sk-secret");
	});

	it("does not repeat it in an error", async () => {
		const { host } = await createHost();
		const { sessions } = await connect(host);
		const environment: unknown = "KEY=sk-secret";
		const thrown = await sessions
			.create({ ...plainRequest, environment: environment as Record<string, string> })
			.catch((each) => each);
		expect(thrown.message).not.toContain("sk-secret");
	});

	it("bounds every kind of stream", async () => {
		const { host } = await createHost();
		const { transport, client } = createMemoryTransport(10_000_000, 10_000_000);
		void serveKernel({ sessions: host, transport, log: silentLog });
		const { id } = (await host.create(plainRequest)).session;
		const request = (name: string, method: string, params: object) =>
			client.write(`${JSON.stringify({ jsonrpc: "2.0", id: name, method, params })}\n`);
		request("a", "sessions.acquire", { id, options: {} });
		await client.read();
		let refused = 0;
		for (let n = 0; n < 10_100; n += 1) {
			request("e", "session.events", { session: "2" });
			if (n % 100 !== 99) continue;
			for (let m = 0; m < 100; m += 1) if ((await client.read())?.includes("overloaded") === true) refused += 1;
		}
		client.end();
		expect(refused).toBe(100);
	});

	it("passes on names that objects have themselves", async () => {
		const { host } = await createHost();
		const seen: unknown[] = [];
		const create: SessionsApi["create"] = async (options) => {
			seen.push(options.environment);
			return await host.create(options);
		};
		const { sessions } = await connect({ ...offerSession((await host.create(plainRequest)).session), create });
		const environment = { constructor: "1", prototype: "2", A: "3" };
		await sessions.create({ ...plainRequest, environment });
		expect(seen).toEqual([environment]);
	});
});
