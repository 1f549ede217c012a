// Workers that are replaced: by ones of the same version, and by ones that front ends do not understand.
import { createServer, type Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { createCluster } from "../../test/support/cluster/cluster.ts";
import { attachReader } from "../../test/support/protocol/event-reader.ts";
import { plainAttachment } from "../../test/support/sessions/session-doubles.ts";
import { createHost, runTurn } from "../../test/support/sessions/session-host.ts";
import { createDeferred } from "../base/deferred.ts";
import { plainRequest } from "../kernel/hosting/hosted-options.ts";
import { createMemoryStore } from "../ports/store/memory/memory-store.ts";
import { remoteVersion } from "../remote/remote-version.ts";
import { admitFrontEnd, createSecret } from "./handshake.ts";
import { readTags, versionTag } from "./worker-version.ts";

const later = remoteVersion + 1;
const noWorker = { address: "127.0.0.1:9", secret: createSecret(), fingerprint: null, tags: [], isEnding: false };

/** A worker and a front end, and another worker of a later version, which has the session `theirs`. */
async function createMixed() {
	const cluster = createCluster();
	const { host } = await createHost();
	await cluster.addWorker("ours", host);
	const front = cluster.addFrontEnd(host, 1_000);
	const handle = await front.create(plainRequest);
	await runTurn(handle);
	const other = { ...noWorker, id: "other", remoteVersion: later };
	await cluster.registry.announce(other);
	cluster.registry.holders.set("theirs", "other");
	cluster.registry.holders.set(handle.session.id, "ours");
	handle.release();
	return { ...cluster, host, front, id: handle.session.id, other };
}

const reason = `The worker other speaks version ${later} of the protocol between gateways and workers, and this gateway version ${remoteVersion}. Start a worker of this gateway's version, then end that one with SIGTERM: its sessions are taken over (docs/guides/scale.md, Upgrading).`;

describe("a worker of another version", () => {
	it("is named, and the sessions of the others are listed", async () => {
		const { front, id } = await createMixed();
		expect((await front.loaded()).map((info) => info.id)).toEqual([id]);
		const [ours, other] = await front.workers();
		expect(ours).toMatchObject({ id: "ours", remoteVersion });
		expect(ours).not.toHaveProperty("notUsable");
		expect(other).toMatchObject({ id: "other", remoteVersion: later, notUsable: reason });
	});

	it("keeps its sessions, and whoever wants one is told what to do", async () => {
		const { front } = await createMixed();
		const refused = { code: "unsupported", message: reason, data: { worker: "other", remoteVersion: later } };
		await expect(front.acquire("theirs")).rejects.toMatchObject(refused);
		await expect(front.fork("theirs")).rejects.toMatchObject(refused);
		await expect(front.interrupt("theirs")).rejects.toMatchObject(refused);
		await expect(front.archive("theirs")).rejects.toMatchObject(refused);
		await expect(front.delete("theirs")).rejects.toMatchObject(refused);
	});

	it("is the reason with which its sessions are listed", async () => {
		const { front, registry, id } = await createMixed();
		registry.holders.set(id, "other");
		expect((await front.list({})).sessions).toMatchObject([{ id, notRunnable: reason }]);
	});

	it("is waited for when it ends", async () => {
		const { front, registry, id, other } = await createMixed();
		registry.holders.set(id, "other");
		await registry.announce({ ...other, isEnding: true });
		setTimeout(() => registry.holders.set(id, "ours"), 300);
		(await front.acquire(id)).release();
		registry.holders.set(id, "other");
		await expect(front.acquire(id)).rejects.toMatchObject({
			code: "unsupported",
			message: expect.stringContaining("It is ending: try again when it has ended"),
		});
	});

	it("is none that could take a new session, and the reason says so", async () => {
		const { host } = await createHost();
		const cluster = createCluster();
		await cluster.registry.announce({ ...noWorker, id: "other", remoteVersion: later });
		await expect(cluster.addFrontEnd(host, 100).create(plainRequest)).rejects.toMatchObject({
			code: "overloaded",
			message: `No worker runs that speaks version ${remoteVersion} of the protocol, as this gateway does. Versions of the workers: other: ${later}. Start one of this gateway's version (docs/guides/scale.md, Upgrading).`,
		});
	});

	it("is found out by its answer when it did not announce its version", async () => {
		const { front, registry, id } = await createMixed();
		const { secret } = noWorker;
		const answer = async (socket: Socket) => {
			await admitFrontEnd(socket, secret);
			socket.once("data", (line) => {
				const { id: request } = JSON.parse(line.toString());
				const error = { code: -32000, message: "another version", data: { code: "unsupported", data: null } };
				socket.write(`${JSON.stringify({ jsonrpc: "2.0", id: request, error })}\n`);
			});
		};
		const server = createServer((socket) => void answer(socket).catch(() => socket.destroy()));
		await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
		onTestFinished(() => void server.close());
		const bound = server.address();
		const port = bound === null || typeof bound === "string" ? 0 : bound.port;
		await registry.announce({ ...noWorker, id: "other", remoteVersion: null, address: `127.0.0.1:${port}` });
		expect((await front.loaded()).map((info) => info.id)).toEqual([id]);
		await expect(front.acquire("theirs")).rejects.toMatchObject({
			code: "unsupported",
			message: expect.stringContaining("The worker other speaks another version"),
		});
	});

	it("is told from its tags, which operators cannot give", () => {
		expect(readTags(["gpu", versionTag])).toEqual({ tags: ["gpu"], remoteVersion });
		expect(readTags(["gpu"])).toEqual({ tags: ["gpu"], remoteVersion: null });
	});
});

describe("a worker that ends while a turn runs", () => {
	/** Two workers; the first one has an idle session that a client watches, and one whose turn waits for an answer. */
	async function createEnding() {
		const store = createMemoryStore();
		const cluster = createCluster();
		const { host: first } = await createHost({}, { store });
		const { host: second } = await createHost({}, { store });
		const one = await cluster.addWorker("one", first);
		const front = cluster.addFrontEnd(first);
		const idle = await front.create(plainRequest);
		const busy = await front.create({ ...plainRequest, tools: "all" });
		await runTurn(idle);
		const client = await attachReader(busy.session, { approves: true });
		const call = { id: "c", name: "WriteFile", arguments: JSON.stringify({ path: "/work/new", content: "x" }) };
		await busy.startTurn(`tool_call: ${JSON.stringify(call)}`);
		const { body } = await client.event("interaction.requested");
		const answer = () =>
			busy.session.send({
				type: "interaction.respond",
				interactionId: body.interaction.id,
				answer: { kind: "approval", decision: "reject", feedback: "" },
				clientId: client.attachment.id,
			});
		for (const { session } of [idle, busy]) cluster.registry.holders.set(session.id, "one");
		await cluster.addWorker("two", second);
		const isDrained = createDeferred<void>();
		const end = () => void one.drain(20_000).then(() => isDrained.resolve());
		const isLoaded = async (id: string) => (await first.loaded()).some((info) => info.id === id);
		const place = async (id: string) => {
			await expect.poll(() => isLoaded(id), { timeout: 10_000 }).toBe(false);
			cluster.registry.holders.set(id, "two");
		};
		return { ...cluster, front, idle, busy, client, answer, end, isDrained: isDrained.promise, place, second };
	}

	it("gives an idle session to another one, although a client watches it here and one elsewhere", async () => {
		const { front, addFrontEnd, idle, end, place, second } = await createEnding();
		const { id } = idle.session;
		const watching = await front.acquire(id, { archived: true });
		const watcher = await attachReader(watching.session);
		const elsewhere = await addFrontEnd(second).acquire(id, { archived: true });
		const other = await attachReader(elsewhere.session);
		end();
		const [turn] = await Promise.all([idle.startTurn("text: next"), place(id)]);
		for (const { event } of [watcher, other]) expect((await event("turn.started")).turnId).toBe(turn.turnId);
		expect((await second.loaded()).map((info) => info.id)).toEqual([id]);
	});

	it("gives away what nobody uses without being asked", async () => {
		const { idle, end, place } = await createEnding();
		idle.release();
		end();
		await place(idle.session.id);
	});

	it("shows the session of the turn to clients that come, and says that it is busy", async () => {
		const { addFrontEnd, second, busy, client, answer, end, isDrained } = await createEnding();
		end();
		await expect(busy.startTurn("text: no")).rejects.toMatchObject({ code: "busy" });
		const late = await addFrontEnd(second).acquire(busy.session.id);
		expect((await late.session.snapshot()).openInteractions).toHaveLength(1);
		await answer();
		await client.event("turn.ended");
		await isDrained;
	});
});

describe("a worker that ends", () => {
	/** A front end, and the worker `one` until `end` replaces it with `two`. */
	async function createEnding() {
		const { host: one } = await createHost();
		const { host: two } = await createHost();
		const cluster = createCluster();
		let isEnded = false;
		const end = async () => {
			if (isEnded) return;
			isEnded = true;
			await first.drain(0);
			await cluster.addWorker("two", two);
		};
		const first = await cluster.addWorker("one", one, { prepare: async () => await onPrepare() });
		let onPrepare = async () => {};
		const endAtPreparation = () => {
			onPrepare = end;
		};
		return { ...cluster, two, end, endAtPreparation, front: cluster.addFrontEnd(one) };
	}

	it("answers no request as if a session were closed that goes on at the next one", async () => {
		const store = createMemoryStore();
		const cluster = createCluster();
		const { host: one } = await createHost({}, { store });
		const { host: two } = await createHost({}, { store });
		const first = await cluster.addWorker("one", one);
		const front = cluster.addFrontEnd(one);
		const handle = await front.create(plainRequest);
		const { id } = handle.session;
		await runTurn(handle);
		cluster.registry.holders.set(id, "one");
		await cluster.addWorker("two", two);
		// Its sessions are stopped by now, and its connections still answer.
		await first.drain(0);
		const attaching = handle.session.attach(plainAttachment);
		const titling = handle.session.send({ type: "title.set", title: "t" });
		const asking = handle.session.send({ type: "side-question.start", question: "q" });
		await expect(asking).rejects.toThrow("whether it did what was asked");
		cluster.registry.holders.set(id, "two");
		await Promise.all([attaching, titling]);
		expect((await two.loaded()).map((info) => info.id)).toEqual([id]);
	});

	it("creates no session that it has taken, and the next one does", async () => {
		const { registry, two, front, end } = await createEnding();
		const answer = registry.answer.bind(registry);
		registry.answer = async (request) => {
			const worker = await answer(request);
			if (worker !== null) await end();
			return worker;
		};
		const handle = await front.create(plainRequest);
		expect((await two.loaded()).map(({ id }) => id)).toEqual([handle.session.id]);
	});

	it("creates none whose directory was made ready meanwhile", async () => {
		const { two, front, endAtPreparation } = await createEnding();
		endAtPreparation();
		const handle = await front.create(plainRequest);
		expect((await two.loaded()).map(({ id }) => id)).toEqual([handle.session.id]);
	});

	it("leaves a session that it has taken to the next one, when it cannot be reached", async () => {
		const { registry, two, front, end } = await createEnding();
		await end();
		const answer = registry.answer.bind(registry);
		let isFirst = true;
		registry.answer = async (request) => {
			const isGone = isFirst;
			isFirst = false;
			return isGone ? { ...noWorker, id: "gone", remoteVersion } : await answer(request);
		};
		const handle = await front.create(plainRequest);
		expect((await two.loaded()).map(({ id }) => id)).toEqual([handle.session.id]);
	});

	it("that cannot be reached is what a creation fails of, when no other one takes the session", async () => {
		const { host } = await createHost();
		const cluster = createCluster();
		const front = cluster.addFrontEnd(host, 1_500);
		let isFirst = true;
		cluster.registry.answer = async () => {
			const isGone = isFirst;
			isFirst = false;
			return isGone ? { ...noWorker, id: "gone", remoteVersion } : null;
		};
		await expect(front.create(plainRequest)).rejects.toThrow("gone");
	});
});
