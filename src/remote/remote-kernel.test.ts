// What a connection adds to the kernel API: it can be lost, and the other side may be another program.
import { duplexPair } from "node:stream";
import { describe, expect, it, vi } from "vitest";
import { connectionKinds, connectRemote, offerSession } from "../../test/support/host/remote-sessions.ts";
import { createModelGate, createScriptedModel, done, say } from "../../test/support/models/scripted-model.ts";
import { attachReader } from "../../test/support/protocol/event-reader.ts";
import { plainAttachment } from "../../test/support/sessions/session-doubles.ts";
import { createHost, runTurn } from "../../test/support/sessions/session-host.ts";
import { createSessionSubject } from "../../test/support/sessions/session-subject.ts";
import type { Attachment, SessionHandle, SessionsApi } from "../api/kernel.ts";
import type { AgentEvent } from "../api/values/event.ts";
import { silentLog } from "../base/log.ts";
import { plainRequest } from "../kernel/hosting/hosted-options.ts";
import { createMemoryTransport } from "../ports/transports/memory.ts";
import { createStreamTransport } from "../ports/transports/stream.ts";
import { serveKernel } from "./kernel-server.ts";
import { connectKernel } from "./remote-kernel.ts";
import { remoteVersion } from "./remote-version.ts";

describe.each(connectionKinds)("a connection to a kernel %s", (_name, createPair) => {
	it("gives back what the front end used when it is lost; the turn goes on", async () => {
		const gate = createModelGate();
		const { session } = await createSessionSubject(createScriptedModel([[say("one"), gate, say("two"), done()]]));
		const offered = offerSession(session);
		const release = vi.fn();
		const sessions: SessionsApi = {
			...offered,
			acquire: async (id) => ({ ...(await offered.acquire(id)), release }),
		};
		const remote = await connectRemote(sessions, createPair);
		const handle = await remote.sessions.acquire(session.id);
		await attachReader(handle.session, { called: "far" });
		const near = await attachReader(session, { called: "near" });
		await handle.startTurn("hi");
		await gate.reached;
		expect((await session.snapshot()).clients).toHaveLength(2);
		remote.cut();
		await remote.served;
		expect(release).toHaveBeenCalledOnce();
		expect((await session.snapshot()).clients.map(({ name }) => name)).toEqual(["near"]);
		gate.open();
		expect((await near.event("turn.ended")).body.outcome).toEqual({ status: "finished" });
	});

	it("ends the events of its attachments, and fails every call, when it is lost", async () => {
		const { host } = await createHost();
		const remote = await connectRemote(host, createPair);
		const { session, startTurn } = await remote.sessions.create(plainRequest);
		const attachment = await session.attach(plainAttachment);
		const reading = (async () => {
			const events: AgentEvent[] = [];
			for await (const batch of attachment.events) events.push(...batch);
			return events;
		})();
		const waiting = session.send({ type: "turn.start", input: "hi" });
		remote.cut();
		await expect(waiting).rejects.toMatchObject({ code: "closed" });
		expect(await reading).toEqual([]);
		expect(remote.lost.aborted).toBe(true);
		await expect(startTurn("hi")).rejects.toMatchObject({ code: "closed" });
		await expect(remote.sessions.loaded()).rejects.toMatchObject({ code: "closed" });
		await expect(session.conversation()).rejects.toMatchObject({ code: "closed" });
		await attachment.drained();
		attachment.close();
	});

	it("refuses the files of an editor, which it could not call", async () => {
		const { host } = await createHost();
		const { sessions } = await connectRemote(host, createPair);
		const opening = { editorFiles: { read: async () => "unsaved" } };
		const refused = { code: "unsupported", message: expect.stringContaining("files of an editor") };
		await expect(sessions.create({ ...plainRequest, ...opening })).rejects.toMatchObject(refused);
		const { session } = await sessions.create(plainRequest);
		await expect(sessions.acquire(session.id, opening)).rejects.toMatchObject(refused);
	});

	it("serves several front ends, which see the same session", async () => {
		const { host } = await createHost();
		const [one, two] = [await connectRemote(host, createPair), await connectRemote(host, createPair)];
		const created = await one.sessions.create(plainRequest);
		const other = await two.sessions.acquire(created.session.id);
		const [first, second] = [await attachReader(created.session), await attachReader(other.session)];
		await created.startTurn("text: hello");
		await Promise.all([first.event("turn.ended"), second.event("turn.ended")]);
		const durable = (events: readonly AgentEvent[]) => events.filter(({ seq }) => seq !== undefined);
		expect(durable(second.events)).toEqual(durable(first.events));
		await one.close();
		await one.served;
		await runTurn(other);
	});

	it("passes large histories in pieces", async () => {
		const { host } = await createHost();
		const handle = await host.create(plainRequest);
		const text = "long ".repeat(100_000);
		for (let n = 0; n < 5; n += 1) {
			const client = await attachReader(handle.session);
			await handle.startTurn(`text: ${text}${n}`);
			await client.event("turn.ended");
			client.attachment.close();
		}
		const remote = await connectRemote(host, createPair);
		const { session } = await remote.sessions.acquire(handle.session.id);
		expect(await session.conversation()).toEqual(await handle.session.conversation());
		const [far, near]: AgentEvent[][] = [[], []];
		for await (const batch of session.events()) far?.push(...batch);
		for await (const batch of handle.session.events()) near?.push(...batch);
		expect(far).toEqual(near);
		for await (const batch of session.events()) if (batch.some(({ seq }) => seq === 2)) break;
		await remote.close();
	});

	it("refuses what a front end has released", async () => {
		const { host } = await createHost();
		const { sessions } = await connectRemote(host, createPair);
		const { session, release } = await sessions.create(plainRequest);
		release();
		await expect(session.snapshot()).rejects.toMatchObject({ code: "closed", message: "The session was released." });
	});

	it("remembers the rest of only so many attachments that were closed", async () => {
		const { host } = await createHost();
		const { sessions } = await connectRemote(host, createPair);
		const handle = await sessions.create(plainRequest);
		await runTurn(handle);
		const { session } = handle;
		const after = { ...(await session.snapshot()).cursor, seq: 0 };
		const attachments: Attachment[] = [];
		for (let n = 0; n <= 1000; n += 1) attachments.push(await session.attach({ ...plainAttachment, after }));
		for (const { close } of attachments) close();
		const count = async ({ events }: Attachment) => {
			let batches = 0;
			for await (const _ of events) batches += 1;
			return batches;
		};
		const [first, second] = attachments;
		if (first === undefined || second === undefined) throw new Error("nobody attached");
		expect(await count(first)).toBe(0);
		expect(await count(second)).toBeGreaterThan(0);
		expect((await session.snapshot()).clients).toEqual([]);
	});
});

describe("the other side of a connection", () => {
	/** What a kernel answers to these lines. */
	async function answersTo(...lines: readonly string[]): Promise<readonly unknown[]> {
		const { host } = await createHost();
		const { transport, client } = createMemoryTransport(100_000, 100_000);
		const served = serveKernel({ sessions: host, transport, log: silentLog });
		for (const line of lines) client.write(`${line}\n`);
		client.end();
		await served;
		const answers: unknown[] = [];
		for (let line = await client.read(); line !== null; line = await client.read()) answers.push(JSON.parse(line));
		return answers;
	}
	const request = (method: string, params: unknown) => JSON.stringify({ jsonrpc: "2.0", id: "1", method, params });

	it("is told the version that it lacks", async () => {
		expect(await answersTo(request("hello", { version: remoteVersion + 1 }))).toMatchObject([
			{
				error: {
					data: { code: "unsupported" },
					message: expect.stringContaining(`version ${remoteVersion} of this protocol, not ${remoteVersion + 1}`),
				},
			},
		]);
	});

	it.each<[string, object]>([
		["{", { code: -32700 }],
		["[]", { code: -32600 }],
		[request("nothing", {}), { code: -32601, message: "There is no method nothing." }],
		[request("sessions.acquire", {}), { code: -32602 }],
		[request("sessions.create", { options: { tools: "every" } }), { code: -32602 }],
		[request("session.send", { session: "1", command: { type: "turn.begin" } }), { code: -32602 }],
		[request("session.snapshot", { session: "9" }), { data: { code: "closed" } }],
	])("gets an error for %s", async (line, error) => {
		expect(await answersTo(line)).toMatchObject([{ error }]);
	});

	it("is not answered to notifications about what there is not", async () => {
		const notify = (method: string, params: object) => JSON.stringify({ jsonrpc: "2.0", method, params });
		const lines = [
			notify("handle.release", { handle: "9" }),
			notify("session.fail", { session: "9", message: "x" }),
			notify("stream.close", { stream: "9" }),
			notify("wait.abort", { wait: "9" }),
			notify("wait.abort", {}),
		];
		expect(await answersTo(...lines, request("sessions.loaded", {}))).toEqual([
			{ jsonrpc: "2.0", id: "1", result: [] },
		]);
	});

	/** A front end of something that answers every request with this. */
	async function connectTo(answer: (method: string) => object) {
		const [near, far] = duplexPair();
		near.setEncoding("utf8");
		near.on("data", (text: string) => {
			for (const line of text.split("\n").filter(Boolean)) {
				const { id, method } = JSON.parse(line);
				near.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer(method) })}\n`);
			}
		});
		return await connectKernel(createStreamTransport(far, { lineLimit: 1000, outboxLimit: 1000 }), silentLog);
	}

	it("may be another program, whose answers are not used", async () => {
		await expect(connectTo(() => ({ error: { code: -32601, message: "what?" } }))).rejects.toMatchObject({
			code: "internal",
			message: "what?",
		});
		const answers: Readonly<Record<string, object>> = {
			hello: { version: remoteVersion },
			"sessions.loaded": [{ id: 5 }],
		};
		const { sessions } = await connectTo((method) => ({ result: answers[method] ?? null }));
		await expect(sessions.loaded()).rejects.toMatchObject({
			code: "internal",
			message: expect.stringContaining("0.id"),
		});
		await expect(sessions.list({})).rejects.toMatchObject({ code: "internal" });
	});

	it("passes on errors with their codes and data", async () => {
		const data = { code: "overloaded", data: { limit: 3 } };
		const { sessions } = await connectTo((method) =>
			method === "hello"
				? { result: { version: remoteVersion } }
				: { error: { code: -32000, message: "too many", data } },
		);
		const refused = sessions.create(plainRequest);
		await expect(refused).rejects.toMatchObject({ code: "overloaded", message: "too many", data: { limit: 3 } });
	});

	it("gets the session back that it acquired while it was going", async () => {
		const { host } = await createHost();
		const released = vi.fn();
		let answer = (_handle: SessionHandle): void => {};
		const sessions: SessionsApi = {
			...offerSession((await host.create(plainRequest)).session),
			acquire: () => new Promise((resolve) => (answer = resolve)),
		};
		const { transport, client } = createMemoryTransport(100_000, 100_000);
		const served = serveKernel({ sessions, transport, log: silentLog });
		client.write(`${request("sessions.acquire", { id: "x", options: {} })}\n`);
		client.end();
		answer({ ...(await host.create(plainRequest)), release: released });
		await served;
		expect(released).toHaveBeenCalledOnce();
	});
});
