import { describe, expect, it, vi } from "vitest";
import { createFakeClock } from "../../test/support/host/campaign-clock.ts";
import { aborted, createAbortableWaits, orAbort, unlessAborted, unlessLate } from "./abort.ts";
import { createDeferred } from "./deferred.ts";

describe("unlessAborted", () => {
	it("resolves with the result of the work", async () => {
		const { signal } = new AbortController();
		expect(await unlessAborted(Promise.resolve(5), signal)).toBe(5);
		await expect(unlessAborted(Promise.reject(new Error("no")), signal)).rejects.toThrow("no");
	});

	it("stops waiting at an abort, and ignores how the work ends", async () => {
		const stopping = new AbortController();
		const work = createDeferred<number>();
		const waiting = unlessAborted(work.promise, stopping.signal);
		stopping.abort();
		expect(await waiting).toBeNull();
		work.reject(new Error("late"));
		expect(await unlessAborted(new Promise(() => {}), AbortSignal.abort())).toBeNull();
	});
});

describe("waits that one signal ends", () => {
	it("resolve with the results of their work, one after the other, with one listener", async () => {
		const stopping = new AbortController();
		const listen = vi.spyOn(stopping.signal, "addEventListener");
		const waits = createAbortableWaits(stopping.signal);
		for (const n of [1, 2, 3]) expect(await waits.until(Promise.resolve(n))).toBe(n);
		await expect(waits.until(Promise.reject(new Error("no")))).rejects.toThrow("no");
		expect(listen).toHaveBeenCalledOnce();
	});

	it("stop at an abort, the later ones at once, and ignore how the work ends", async () => {
		const stopping = new AbortController();
		const waits = createAbortableWaits(stopping.signal);
		const work = createDeferred<number>();
		const waiting = waits.until(work.promise);
		stopping.abort();
		expect(await waiting).toBeNull();
		work.reject(new Error("late"));
		expect(await waits.until(new Promise(() => {}))).toBeNull();
	});

	it("listen no longer once they have ended", () => {
		const stopping = new AbortController();
		const forget = vi.spyOn(stopping.signal, "removeEventListener");
		createAbortableWaits(stopping.signal).end();
		expect(forget).toHaveBeenCalledOnce();
	});
});

describe("aborted", () => {
	it("resolves at the abort, also at an earlier one", async () => {
		const stopping = new AbortController();
		let isOver = false;
		const waiting = aborted(stopping.signal).then(() => {
			isOver = true;
		});
		await Promise.resolve();
		expect(isOver).toBe(false);
		stopping.abort();
		await waiting;
		await aborted(stopping.signal);
	});
});

describe("orAbort", () => {
	it("resolves with the result of the work", async () => {
		const { signal } = new AbortController();
		expect(await orAbort(Promise.resolve(5), signal)).toBe(5);
		await expect(orAbort(Promise.reject(new Error("no")), signal)).rejects.toThrow("no");
	});

	it("rejects with the reason of an abort, and ignores how the work ends", async () => {
		const stopping = new AbortController();
		const work = createDeferred<number>();
		const waiting = orAbort(work.promise, stopping.signal);
		stopping.abort("enough");
		await expect(waiting).rejects.toBe("enough");
		work.reject(new Error("late"));
		await expect(orAbort(Promise.resolve(5), AbortSignal.abort("before"))).rejects.toBe("before");
	});
});

describe("unlessLate", () => {
	it("resolves with the result of the work, also when it ends in time after an abort", async () => {
		const clock = createFakeClock();
		const stopping = new AbortController();
		expect(await unlessLate(Promise.resolve(5), stopping.signal, 100, clock)).toBe(5);
		const work = createDeferred<number>();
		const waiting = unlessLate(work.promise, stopping.signal, 100, clock);
		stopping.abort();
		await new Promise((resolve) => setImmediate(resolve));
		clock.advance(99);
		work.resolve(6);
		expect(await waiting).toBe(6);
		expect(clock.waiting()).toBe(0);
		await expect(unlessLate(Promise.reject(new Error("no")), stopping.signal, 100, clock)).rejects.toThrow("no");
	});

	it("abandons work that does not end, and ignores how it ends", async () => {
		const clock = createFakeClock();
		const stopping = new AbortController();
		const work = createDeferred<number>();
		const waiting = unlessLate(work.promise, stopping.signal, 100, clock);
		stopping.abort();
		await new Promise((resolve) => setImmediate(resolve));
		clock.advance(100);
		expect(await waiting).toBeNull();
		work.reject(new Error("late"));
		await new Promise((resolve) => setImmediate(resolve));
	});
});
