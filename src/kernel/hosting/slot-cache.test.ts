import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import { createMemoryLog } from "../../../test/support/store/store-directory.ts";
import { createDeferred } from "../../base/deferred.ts";
import { SlotCache } from "./slot-cache.ts";

interface Value {
	readonly id: string;
	isWorking: boolean;
	isEvictable: boolean;
}

function createSubject(capacity: number, evictAfter = 0) {
	const clock = createFakeClock();
	const log = createMemoryLog();
	const unloaded: string[] = [];
	const failing = new Set<string>();
	const cache = new SlotCache<Value>({
		capacity,
		evictAfter,
		clock,
		log,
		isWorking: ({ isWorking }) => isWorking,
		isEvictable: async ({ isEvictable }) => isEvictable,
		unload: async (id) => {
			unloaded.push(id);
			if (failing.has(id)) throw new Error("the disk is full");
		},
		createFullError: (used, limit) => new Error(`${used}/${limit}`),
	});
	const load = (id: string) =>
		cache.serialize(id, () => cache.load(id, async () => ({ id, isWorking: false, isEvictable: true })));
	const settled = async () => {
		for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
	};
	return { cache, clock, load, unloaded, failing, log, settled };
}

describe("a cache of slots", () => {
	it("loads a value once, and returns it to all callers", async () => {
		const { cache, load } = createSubject(1);
		const [first, second] = await Promise.all([load("a"), load("a")]);
		expect(first).toBe(second);
		expect(cache.slots().map(({ id }) => id)).toEqual(["a"]);
	});

	it("evicts the value that was used least recently", async () => {
		const { cache, load, unloaded } = createSubject(2);
		for (const id of ["a", "b", "a"]) {
			await load(id);
			cache.acquire(id)();
		}
		await load("c");
		expect(unloaded).toEqual(["b"]);
		expect(
			cache
				.slots()
				.filter(({ value }) => value !== null)
				.map(({ id }) => id),
		).toEqual(["a", "c"]);
	});

	it.each([
		["is held", (cache: SlotCache<Value>) => cache.acquire("a")],
		["works", (_: SlotCache<Value>, value: Value) => Object.assign(value, { isWorking: true })],
		["may not be evicted", (_: SlotCache<Value>, value: Value) => Object.assign(value, { isEvictable: false })],
	])("refuses another value while the only one %s, and has a slot for it afterwards", async (_name, use) => {
		const { cache, load, unloaded } = createSubject(1);
		const value = await load("a");
		const release = use(cache, value);
		await expect(load("b")).rejects.toThrow("1/1");
		expect([unloaded, cache.get("b")]).toEqual([[], null]);
		value.isWorking = false;
		value.isEvictable = true;
		if (typeof release === "function") release();
		expect((await load("b")).id).toBe("b");
	});

	it("has a free slot again when a value cannot be loaded, and forgets its id", async () => {
		const { cache, load } = createSubject(1);
		const failing = cache.serialize("a", () => cache.load("a", () => Promise.reject(new Error("torn"))));
		await expect(failing).rejects.toThrow("torn");
		expect(cache.get("a")).toBeNull();
		expect((await load("b")).id).toBe("b");
	});

	it("has a free slot again when unloading fails, and logs why", async () => {
		const { load, failing, log } = createSubject(1);
		await load("a");
		failing.add("a");
		expect((await load("b")).id).toBe("b");
		expect(JSON.stringify(log.lines)).toContain("could not be unloaded");
	});

	it("waits for an eviction that is under way instead of refusing", async () => {
		const { cache, load } = createSubject(1);
		const value = await load("a");
		const busy = createDeferred<void>();
		const blocking = cache.serialize("a", () => busy.promise);
		const waiting = load("b");
		busy.resolve();
		await blocking;
		expect((await waiting).id).toBe("b");
		expect(value.id).toBe("a");
	});

	it("evicts an idle value after its time since the last release, but no acquired value and none after a stop", async () => {
		const { cache, clock, load, unloaded, settled } = createSubject(3, 1000);
		for (const id of ["a", "b"]) await load(id);
		const [releaseOne, releaseOther] = [cache.acquire("a"), cache.acquire("b")];
		releaseOne();
		clock.advance(900);
		cache.acquire("a")();
		clock.advance(900);
		await settled();
		expect(unloaded).toEqual([]);
		clock.advance(100);
		await settled();
		expect(unloaded).toEqual(["a"]);
		releaseOther();
		cache.stop();
		clock.advance(5000);
		await settled();
		expect(unloaded).toEqual(["a"]);
	});

	it("does not take the release of a removed value for one of the value that was loaded in its place", async () => {
		const { cache, load, unloaded } = createSubject(1);
		await load("a");
		const releaseRemoved = cache.acquire("a");
		await cache.serialize("a", () => cache.remove("a"));
		await load("a");
		cache.acquire("a");
		releaseRemoved();
		expect(cache.isUsed("a")).toBe(true);
		await expect(load("b")).rejects.toThrow("1/1");
		expect(unloaded).toEqual(["a"]);
	});

	it("evicts an idle value on request, and none that is in use", async () => {
		const { cache, load, unloaded } = createSubject(3);
		for (const id of ["idle", "used", "working"]) await load(id);
		cache.acquire("used");
		const working = cache.get("working")?.value;
		if (working !== null && working !== undefined) working.isWorking = true;
		for (const id of ["idle", "used", "working", "unknown"]) await cache.evict(id);
		expect(unloaded).toEqual(["idle"]);
	});

	it("forgets a removed value, and loads it again", async () => {
		const { cache, load, unloaded } = createSubject(1);
		const first = await load("a");
		await cache.serialize("a", () => cache.remove("a"));
		expect([cache.get("a"), unloaded]).toEqual([null, ["a"]]);
		expect(await load("a")).not.toBe(first);
	});
});
