import { describe, expect, it, vi } from "vitest";
import { createHost, runTurn } from "../../../test/support/sessions/session-host.ts";
import { createMemoryLog } from "../../../test/support/store/store-directory.ts";
import type { SessionApi, SessionHandle } from "../../api/kernel.ts";
import type { CreationOptions } from "../../api/session-options.ts";
import type { TaskView } from "../../api/values/task-status.ts";
import { createDeferred } from "../../base/deferred.ts";
import { createMemoryStore } from "../../ports/store/memory/memory-store.ts";
import type { SessionStore } from "../../ports/store/session-store.ts";
import { plainSessionOptions } from "../compose/session-options.ts";
import { plainRequest } from "./hosted-options.ts";

const task: TaskView = {
	id: "bash-1",
	kind: "bash",
	status: "running",
	description: "",
	timeout: null,
	command: "sleep 1",
	agent: null,
	exitCode: null,
	interrupted: false,
	timedOut: false,
	reason: null,
	outputPath: null,
};

async function used(handle: SessionHandle): Promise<SessionApi> {
	await runTurn(handle);
	handle.release();
	return handle.session;
}

describe("a host of sessions", () => {
	it("returns the same loaded session to all front ends", async () => {
		const { host } = await createHost();
		const first = await host.create(plainRequest);
		const second = await host.acquire(first.session.id);
		expect(second.session).toBe(first.session);
		expect(first.info).toEqual({
			id: first.session.id,
			workDir: "/work",
			model: "echo",
			provider: "p",
			isRunning: false,
			isWaiting: false,
			labels: {},
		});
		expect(await host.loaded()).toEqual([first.info]);
	});

	it("unloads a session that was released a while ago, and loads it again", async () => {
		const { host, clock } = await createHost({ unload_after: 60 });
		const handle = await host.create(plainRequest);
		const { id } = handle.session;
		await runTurn(handle);
		clock.advance(120_000);
		expect((await host.acquire(id)).session).toBe(handle.session);
		handle.release();
		handle.release();
		clock.advance(59_999);
		expect((await host.acquire(id)).session).toBe(handle.session);
		handle.release();
		clock.advance(60_000);
		const again = await host.acquire(id);
		expect(again.session).not.toBe(handle.session);
		expect(again.session.hasHistory).toBe(true);
		expect(await host.loaded()).toHaveLength(1);
	});

	it("keeps the model that was chosen for a session without a turn when it loads that one again", async () => {
		const model = { provider: "p", model: "echo", max_context_size: 1000 };
		const { host, clock } = await createHost({ unload_after: 60 }, { models: { m: model, other: model } });
		const handle = await host.create(plainRequest);
		await handle.session.send({ type: "model.set", model: "other", thinking: null });
		handle.release();
		clock.advance(60_000);
		const again = await host.acquire(handle.session.id);
		expect(again.session).not.toBe(handle.session);
		expect((await again.session.snapshot()).model?.alias).toBe("other");
	});

	it("evicts the least recently used session", async () => {
		const { host } = await createHost({ loaded_sessions: 2 });
		const one = await used(await host.create(plainRequest));
		const two = await used(await host.create(plainRequest));
		(await host.acquire(one.id)).release();
		await used(await host.create(plainRequest));
		expect((await host.acquire(one.id)).session).toBe(one);
		expect((await host.acquire(two.id)).session).not.toBe(two);
	});

	it("remembers as the last session the one that started a turn last, whatever is unloaded or ended later", async () => {
		const { host, kernel } = await createHost({ loaded_sessions: 2 });
		const one = await used(await host.create(plainRequest));
		const two = await used(await host.create(plainRequest));
		await used(await host.acquire(one.id));
		(await host.acquire(two.id)).release();
		await host.create(plainRequest);
		expect(await kernel.lastSessionId("/work")).toBe(one.id);
		await kernel.close();
		expect(await kernel.lastSessionId("/work")).toBe(one.id);
	});

	it("unloads several sessions in parallel when several slots are needed", async () => {
		const { host, kernel } = await createHost({ loaded_sessions: 2 });
		const idle = [await used(await host.create(plainRequest)), await used(await host.create(plainRequest))];
		const unload = kernel.unload.bind(kernel);
		const begun: string[] = [];
		const bothBegun = createDeferred<void>();
		kernel.unload = async (id) => {
			begun.push(id);
			if (begun.length === 2) bothBegun.resolve();
			await bothBegun.promise;
			await unload(id);
		};
		const newcomers = await Promise.all([host.create(plainRequest), host.create(plainRequest)]);
		expect(begun).toEqual(idle.map(({ id }) => id));
		await expect(host.create(plainRequest)).rejects.toMatchObject({ code: "overloaded" });
		for (const { release } of newcomers) release();
	});

	it("skips idle sessions that cannot be unloaded", async () => {
		const { host } = await createHost({ loaded_sessions: 2 });
		const busy = await used(await host.create(plainRequest));
		const other = await used(await host.create(plainRequest));
		vi.spyOn(busy, "send").mockResolvedValue({ tasks: [task], hasNews: false });
		(await host.create(plainRequest)).release();
		expect((await host.acquire(busy.id)).session).toBe(busy);
		vi.spyOn(other, "send").mockResolvedValue({ tasks: [], hasNews: false });
		const held = await host.acquire(other.id);
		await expect(host.create(plainRequest)).rejects.toMatchObject({ code: "overloaded" });
		held.release();
		await host.create(plainRequest);
	});

	it("skips idle sessions whose background work is unknown", async () => {
		const { host } = await createHost({ loaded_sessions: 2 });
		const unknown = await used(await host.create(plainRequest));
		await used(await host.create(plainRequest));
		vi.spyOn(unknown, "send").mockRejectedValue(new Error("EIO"));
		(await host.create(plainRequest)).release();
		expect((await host.acquire(unknown.id)).session).toBe(unknown);
	});

	it("refuses a session without a free slot, and accepts one after a release", async () => {
		const { host } = await createHost({ loaded_sessions: 2 });
		const one = await host.create(plainRequest);
		await host.create(plainRequest);
		await expect(host.create(plainRequest)).rejects.toMatchObject({
			code: "overloaded",
			message: "Max sessions reached (2/2)",
		});
		expect(await host.loaded()).toHaveLength(2);
		one.release();
		await host.create(plainRequest);
		await expect(host.acquire(one.session.id)).rejects.toMatchObject({ code: "overloaded" });
	});

	it("finds slots for many concurrent requests, as long as some sessions are idle", async () => {
		const { host } = await createHost({ loaded_sessions: 4 });
		const ids: string[] = [];
		for (let n = 0; n < 12; n += 1) ids.push((await used(await host.create(plainRequest))).id);
		const turn = async (id: string) => used(await host.acquire(id));
		for (let n = 0; n < 12; n += 2) await Promise.all(ids.slice(n, n + 2).map(turn));
		await Promise.all(ids.slice(0, 4).map(turn));
		const four = await Promise.all(ids.slice(4, 8).map(turn));
		expect(four.map(({ id }) => id)).toEqual(ids.slice(4, 8));
	});

	it("refuses a turn above the limit, but a second turn of a session as busy", async () => {
		const { host } = await createHost({ running_turns: 1 });
		const one = await host.create(plainRequest);
		const two = await host.create(plainRequest);
		await one.startTurn("text: hello");
		await expect(two.startTurn("x")).rejects.toMatchObject({ code: "overloaded", data: { limit: 1 } });
		await expect(one.startTurn("x")).rejects.toMatchObject({ code: "busy" });
		expect((await host.loaded()).map(({ isRunning }) => isRunning)).toEqual([true, false]);
	});

	it("forgets a discarded new session, unless it has had a turn", async () => {
		const { host } = await createHost({ loaded_sessions: 1 });
		const handle = await host.create(plainRequest);
		await handle.discard();
		expect(await host.loaded()).toEqual([]);
		await expect(host.acquire(handle.session.id)).rejects.toMatchObject({ code: "session-not-found" });
		const other = await host.create(plainRequest);
		await runTurn(other);
		await other.discard();
		expect(await host.loaded()).toHaveLength(1);
	});

	it("forgets an archived session, in memory and on disk", async () => {
		const { host, kernel } = await createHost();
		const { id } = await used(await host.create(plainRequest));
		await host.archive(id);
		for (const attempt of [host.acquire(id), host.interrupt(id), host.archive(id)]) {
			await expect(attempt).rejects.toMatchObject({ code: "session-not-found" });
		}
		expect(await host.loaded()).toEqual([]);
		const opened = await kernel.open("/work", id, () => plainSessionOptions);
		expect(opened.isArchived).toBe(true);
	});

	it("unloads no archived session under whoever reads it when others want to use or interrupt it", async () => {
		const { host } = await createHost();
		const { id } = await used(await host.create(plainRequest));
		await host.archive(id);
		const reader = await host.acquire(id, { archived: true });
		for (const use of [() => host.acquire(id), () => host.archive(id), () => host.fork(id)]) {
			await expect(use()).rejects.toMatchObject({ code: "session-not-found" });
		}
		await expect(host.interrupt(id)).rejects.toMatchObject({ code: "session-not-found" });
		const other = await host.acquire(id, { archived: true });
		expect(other.session).toBe(reader.session);
	});

	it("frees the slot of a session also when it is archived twice", async () => {
		const { host } = await createHost({ loaded_sessions: 1 });
		const { id } = await used(await host.create(plainRequest));
		const [first, second] = await Promise.allSettled([host.archive(id), host.archive(id)]);
		expect(first.status).toBe("fulfilled");
		expect(second).toMatchObject({ reason: { code: "session-not-found" } });
		await host.create(plainRequest);
	});

	it("interrupts a running turn, and reports that there is none elsewhere", async () => {
		const { host } = await createHost();
		const handle = await host.create(plainRequest);
		const { id } = handle.session;
		expect(await host.interrupt(id)).toBe(false);
		await handle.startTurn("text: hello");
		expect(await host.interrupt(id)).toBe(true);
		await expect(host.interrupt("01936f8a-7b2c-7000-8000-000000000001")).rejects.toMatchObject({
			code: "session-not-found",
		});
	});

	it("rejects a creation that is under way when it stops", async () => {
		const { host } = await createHost();
		const creating = host.create(plainRequest);
		await host.stop();
		await expect(creating).rejects.toMatchObject({ code: "closed" });
	});

	it("ends the events of a client that attaches after the stop", async () => {
		const { host } = await createHost();
		const { session } = await host.create(plainRequest);
		await host.stop();
		const { events } = await session.attach({ client: null, tools: [], capabilities: [], hooks: null });
		expect(await events[Symbol.asyncIterator]().next()).toMatchObject({ done: true });
	});

	it("attributes work that continues after the loading to its own session, although several were created at once", async () => {
		const later = createDeferred<void>();
		const owners: Promise<[id: string, owner: unknown]>[] = [];
		const memory = createMemoryStore();
		const store: SessionStore = {
			...memory,
			openOrCreate(workDir, id) {
				owners.push(later.promise.then(() => [id, host.faultOwner()]));
				return memory.openOrCreate(workDir, id);
			},
		};
		const { host } = await createHost({}, { store });
		const handles = await Promise.all([1, 2, 3].map(() => host.create(plainRequest)));
		later.resolve();
		const sessions = new Map<string, unknown>(handles.map(({ session }) => [session.id, session]));
		for (const [id, owner] of await Promise.all(owners)) expect(owner).toBe(sessions.get(id));
	});

	it("refuses everything after the stop", async () => {
		const { host } = await createHost();
		const handle = await host.create(plainRequest);
		await handle.startTurn("text: hello");
		await host.stop();
		expect(handle.session.turnId).toBeNull();
		await expect(host.create(plainRequest)).rejects.toMatchObject({ code: "closed" });
		await expect(host.acquire(handle.session.id)).rejects.toMatchObject({ code: "closed" });
	});
});

describe("a session of an earlier process", () => {
	const both = {
		m: { provider: "p", model: "echo", max_context_size: 1000 },
		other: { provider: "p", model: "other-echo", max_context_size: 1000 },
	};
	const request: CreationOptions = { ...plainRequest, model: "other", tools: "all" };

	/** A store with one session created from this request, and its id. */
	async function stored(made: CreationOptions) {
		const store = createMemoryStore();
		const { host, kernel } = await createHost({}, { store, models: both });
		const { id } = await used(await host.create(made));
		await kernel.close();
		return { store, id };
	}

	it("has its model of the creation options", async () => {
		const { store, id } = await stored(request);
		const { host } = await createHost({}, { store, models: both });
		expect((await host.acquire(id)).info).toEqual({
			id,
			workDir: "/work",
			model: "other-echo",
			provider: "p",
			isRunning: false,
			isWaiting: false,
			labels: {},
		});
	});

	it("is released when it cannot be loaded", async () => {
		const { store, id } = await stored(request);
		let open = 0;
		const watched: SessionStore = {
			...store,
			async open(workDir, wanted) {
				const session = await store.open(workDir, wanted);
				if (session === null) return null;
				open += 1;
				return {
					...session,
					close: async (options) => {
						open -= 1;
						await session.close(options);
					},
				};
			},
		};
		const { kernel } = await createHost({}, { store: watched, models: both });
		const loading = kernel.open("/work", id, () => {
			throw new Error("no such settings");
		});
		await expect(loading).rejects.toThrow("no such settings");
		expect(open).toBe(0);
	});

	it("has the default model when its own is unavailable, which is logged", async () => {
		const { store, id } = await stored(request);
		const log = createMemoryLog();
		const { host } = await createHost({}, { store, log });
		expect((await host.acquire(id)).info.model).toBe("echo");
		expect(log.lines).toEqual([
			expect.objectContaining({ level: "warn", message: "A session gets the default model in place of its own." }),
		]);
	});

	it.each([5, "all", { tools: "every" }])("has only the default model for %j", async (creationOptions) => {
		const { store, id } = await stored(request);
		const session = await store.openOrCreate("/work", id);
		await session.commit({ state: { creationOptions } });
		await session.close();
		const log = createMemoryLog();
		const { host } = await createHost({}, { store, models: both, log });
		expect((await host.acquire(id)).info.model).toBe("echo");
		expect(log.lines).toEqual([
			expect.objectContaining({ level: "warn", message: "What a session was made with is not readable." }),
		]);
	});
});
