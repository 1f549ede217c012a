import { describe, expect, it, onTestFinished } from "vitest";
import { createCluster } from "../../test/support/cluster/cluster.ts";
import { createFaultProxy } from "../../test/support/postgres/fault-proxy.ts";
import { findPort } from "../../test/support/postgres/postgres-server.ts";
import { attachReader, readJournal } from "../../test/support/protocol/event-reader.ts";
import { createHost, type HostSettings, runTurn } from "../../test/support/sessions/session-host.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { createDeferred } from "../base/deferred.ts";
import { KernelError } from "../base/errors.ts";
import { plainRequest } from "../kernel/hosting/hosted-options.ts";
import { createMemoryStore } from "../ports/store/memory/memory-store.ts";
import { pulse } from "./pulse.ts";
import { readWorkerAddress, showWorkerAddress } from "./worker-address.ts";

/** Two workers over one store, and a front end. */
async function createTwo(settings: HostSettings = {}) {
	const store = createMemoryStore();
	const cluster = createCluster();
	const addWorker = async (id: string, options = {}) => {
		const { host, kernel } = await createHost({}, { ...settings, store });
		const worker = await cluster.addWorker(id, host, options);
		return { worker, host, kernel };
	};
	const one = await addWorker("one");
	const two = await addWorker("two");
	const { host: local } = await createHost({}, { store });
	return { ...cluster, store, one, two, addWorker, front: cluster.addFrontEnd(local) };
}

const placed = (needs: readonly string[], owner = "") => ({ ...plainRequest, placement: { owner, needs } });

describe("sessions of several workers", () => {
	it("keep a client that is attached while the connection to the worker is cut", async () => {
		const { front, registry, addWorker, one, two } = await createTwo();
		const handle = await front.create(plainRequest);
		const { id } = handle.session;
		const client = await attachReader(handle.session, { called: "page" });
		await handle.startTurn("text: one");
		await client.event("turn.ended");
		// Both let the front end go; the session is loaded by a third one.
		await addWorker("three");
		registry.holders.set(id, "three");
		registry.forget("one");
		registry.forget("two");
		await Promise.all([one.worker.close(), two.worker.close()]);
		const next = await handle.startTurn("text: two", { key: "k" });
		await client.event("turn.ended", 2);
		expect(await handle.startTurn("text: two", { key: "k" })).toEqual(next);
		const numbers = client.numbers();
		expect(numbers).toEqual(Array.from(numbers, (_, index) => index + 1));
		expect((await readJournal(handle.session)).map(({ seq }) => seq)).toEqual(numbers);
	});

	it("keep a client, and are given back, when nothing passes any more on a connection that stays open", async () => {
		let pulses = 0;
		const clock: Clock = {
			...systemClock,
			after: (milliseconds, callback, inBackground) => {
				if (milliseconds !== pulse) return systemClock.after(milliseconds, callback, inBackground);
				const beat = () => {
					pulses += 1;
					callback();
				};
				return systemClock.after(20, beat, inBackground);
			},
		};
		const { host } = await createHost();
		const port = await findPort();
		const proxy = await createFaultProxy(port);
		onTestFinished(() => proxy.close());
		const cluster = createCluster();
		const places = { listen: { host: "127.0.0.1", port }, announced: { host: "127.0.0.1", port: proxy.port } };
		await cluster.addWorker("w", host, { ...places, capacity: 1, clock });
		const front = cluster.addFrontEnd(host, 5_000, clock);
		const handle = await front.create(plainRequest);
		const client = await attachReader(handle.session);
		await handle.startTurn("text: one");
		await client.event("turn.ended");
		// While both answer, nothing ends.
		await expect.poll(() => pulses).toBeGreaterThan(30);
		await handle.startTurn("text: two");
		await client.event("turn.ended", 2);
		proxy.swallow();
		const unanswered = handle.startTurn("text: lost").then(
			() => "answered",
			(thrown: KernelError) => thrown.code,
		);
		const again = handle.startTurn("text: three", { key: "k" });
		await expect.poll(() => proxy.swallowed).toBeGreaterThan(0);
		proxy.heal();
		expect(await unanswered).toBe("closed");
		await again;
		await client.event("turn.ended", 3);
		// The worker has given back what the lost connection used.
		handle.release();
		client.attachment.close();
		await expect
			.poll(async () => {
				await host.unload(handle.session.id);
				return await host.loaded();
			})
			.toEqual([]);
	});

	it("are given to another worker by one that ends, with their clients", async () => {
		const { front, registry, one, two } = await createTwo();
		const handle = await front.create(plainRequest);
		await handle.session.send({ type: "session.establish" });
		const client = await attachReader(handle.session);
		await runTurn(handle);
		const isAtOne = (await one.host.loaded()).length > 0;
		const [from, to] = isAtOne ? [one, two] : [two, one];
		registry.holders.set(handle.session.id, isAtOne ? "one" : "two");
		await from.worker.drain(10_000);
		registry.holders.set(handle.session.id, isAtOne ? "two" : "one");
		await from.worker.close();
		await handle.startTurn("text: next", { key: "next" });
		await client.event("turn.ended", 2);
		expect((await to.host.loaded()).map(({ id }) => id)).toEqual([handle.session.id]);
	});

	it("are not created where no worker runs, has what they need, or has room, and the reason is told", async () => {
		const cluster = createCluster();
		const { host: local } = await createHost();
		const front = cluster.addFrontEnd(local, 300);
		await expect(front.create(plainRequest)).rejects.toMatchObject({
			code: "overloaded",
			message: expect.stringContaining("No worker runs"),
		});
		const { host } = await createHost();
		await cluster.addWorker("w", host, { tags: ["linux"], capacity: 1 });
		await expect(front.create(placed(["gpu", "linux"]))).rejects.toMatchObject({
			code: "overloaded",
			message: "No worker has what the session needs (gpu, linux). Tags of the workers: w: linux.",
		});
		// What it needs is for stores of several machines; these tests have one of memory.
		const handle = await front.create(plainRequest);
		await expect(front.create(plainRequest)).rejects.toMatchObject({
			code: "overloaded",
			message: expect.stringContaining("All workers are full (1)"),
		});
		handle.release();
		await expect
			.poll(() =>
				front.create(plainRequest).then(
					() => "created",
					() => "full",
				),
			)
			.toBe("created");
		expect(cluster.registry.open).toBe(0);
	});

	it.each([
		["back", -86_400_000],
		["forward", 86_400_000],
	])("are looked for just as long when the clock of the machine is set %s meanwhile", async (_, by) => {
		let shift = 0;
		const clock = { ...systemClock, now: () => Date.now() + shift };
		const cluster = createCluster();
		const { host: local } = await createHost();
		const front = cluster.addFrontEnd(local, 1_000, clock);
		const refused = front.create(plainRequest);
		shift = by;
		await expect(refused).rejects.toMatchObject({ code: "overloaded" });
		const created = front.create(plainRequest);
		shift = 2 * by;
		await cluster.addWorker("w", (await createHost()).host, { clock });
		(await created).release();
	});

	it("are looked for again by a front end that has lost its lease meanwhile", async () => {
		let id = "first";
		const cluster = createCluster();
		const { host: local } = await createHost();
		const front = cluster.addFrontEnd(local, 5_000, systemClock, async () => id);
		const created = front.create(plainRequest);
		await expect.poll(() => cluster.registry.askers).toEqual(["first"]);
		id = "second";
		await expect.poll(() => cluster.registry.askers).toEqual(["first", "second"]);
		expect(cluster.registry.open).toBe(1);
		await cluster.addWorker("w", (await createHost()).host);
		(await created).release();
		expect(cluster.registry.open).toBe(0);
	});

	it("find room again that was held for a session which never came, whatever the clock of the machine says", async () => {
		let passTime = () => {};
		const clock: Clock = {
			now: () => 0,
			monotonic: () => 0,
			after: (milliseconds, callback, inBackground) => {
				if (milliseconds !== 10_000) return systemClock.after(milliseconds, callback, inBackground);
				passTime = callback;
				return () => {};
			},
		};
		const { registry, addWorker } = createCluster();
		await addWorker("w", (await createHost()).host, { capacity: 1, clock });
		const ask = () => registry.ask({ owner: "", needs: [] }, "front");
		const answered = async (request: string) => (await registry.answer(request))?.id ?? null;
		const first = await ask();
		await expect.poll(() => answered(first)).toBe("w");
		const second = await ask();
		await new Promise((resolve) => setImmediate(resolve));
		expect(await answered(second)).toBeNull();
		passTime();
		await expect.poll(() => answered(second), { timeout: 5_000 }).toBe("w");
	});

	it("are listed with the reason why nobody can run them", async () => {
		const { front, registry } = await createTwo();
		const handle = await front.create(plainRequest);
		await runTurn(handle);
		registry.needs.set(handle.session.id, ["gpu"]);
		const { sessions } = await front.list({});
		expect(sessions).toMatchObject([{ id: handle.session.id, notRunnable: expect.stringContaining("gpu") }]);
	});

	it("are made ready before they are opened, and refused where that fails", async () => {
		const cluster = createCluster();
		const { host } = await createHost();
		const prepared: unknown[] = [];
		await cluster.addWorker("w", host, {
			prepare: async (workDir, sessionId) => {
				prepared.push([workDir, sessionId]);
				if (workDir === "/bad") throw new Error("no such repository");
			},
		});
		const front = cluster.addFrontEnd(host);
		const handle = await front.create({ ...plainRequest, workDir: "/work" });
		await expect(front.create({ ...plainRequest, workDir: "/bad" })).rejects.toMatchObject({ code: "internal" });
		await runTurn(handle);
		const { id } = handle.session;
		handle.release();
		const unload = async () => {
			await host.unload(id);
			return await host.loaded();
		};
		await expect.poll(unload).toEqual([]);
		(await front.acquire(id)).release();
		expect(prepared).toEqual([
			["/work", null],
			["/bad", null],
			["/work", id],
		]);
	});

	it("whose worker died in the middle of a turn are taken over without being asked for", async () => {
		const cluster = createCluster();
		const store = createMemoryStore();
		const { host: first } = await createHost({}, { store });
		const handle = await first.create(plainRequest);
		await runTurn(handle);
		const { host } = await createHost({}, { store });
		cluster.registry.cut = [handle.session.id];
		await cluster.addWorker("w", host, { clock: systemClock });
		await expect.poll(async () => (await host.loaded()).map(({ id }) => id)).toEqual([handle.session.id]);
	});
});

describe("sessions whose worker died", () => {
	/** A worker that takes over what was interrupted, over sessions that behave as `acquire` says. */
	async function takeOver(cut: readonly string[], acquire: (id: string) => Promise<void>) {
		const { registry, addWorker } = createCluster();
		registry.cut = [...cut];
		const { host } = await createHost();
		const handle = await host.create(plainRequest);
		const sessions = Object.assign(Object.create(host), {
			acquire: async (id: string) => {
				await acquire(id);
				return handle;
			},
		});
		await addWorker("w", sessions);
		return registry;
	}

	it("are taken over although the first one takes its time", async () => {
		const taken: string[] = [];
		const held = createDeferred<void>();
		await takeOver(["slow", "one", "two"], async (id) => {
			if (id === "slow") await held.promise;
			taken.push(id);
		});
		await expect.poll(() => taken).toEqual(["one", "two"]);
		held.resolve();
		await expect.poll(() => taken).toContain("slow");
	});

	it("are tried again soon when it fails", async () => {
		let tries = 0;
		const registry = await takeOver(["a"], async () => {
			tries += 1;
			if (tries < 3) throw new KernelError("storage-failed", "The database did not answer.");
			registry.cut = [];
		});
		await expect.poll(() => tries, { timeout: 10_000 }).toBe(3);
	});
});

describe("the address of a worker", () => {
	it.each([
		["127.0.0.1:7430", { host: "127.0.0.1", port: 7430 }],
		["worker-1.example:0", { host: "worker-1.example", port: 0 }],
		["[::1]:7430", { host: "::1", port: 7430 }],
	])("%s is read and shown", (text, address) => {
		expect(readWorkerAddress(text)).toEqual(address);
		expect(showWorkerAddress(address)).toBe(text);
	});

	it.each(["", "7430", ":7430", "host", "host:", "host:65536", "::1:7430", "[host]:1", "a b:1", "host:1x"])(
		"%j is none",
		(text) => {
			expect(readWorkerAddress(text)).toBeNull();
		},
	);
});
