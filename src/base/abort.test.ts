import { describe, expect, it } from "vitest";
import { unlessAborted } from "./abort.ts";
import { createDeferred } from "./deferred.ts";

describe("unlessAborted", () => {
	it("passes the work on", async () => {
		const { signal } = new AbortController();
		expect(await unlessAborted(Promise.resolve(5), signal)).toBe(5);
		await expect(unlessAborted(Promise.reject(new Error("no")), signal)).rejects.toThrow("no");
	});

	it("does not wait behind an abort, nor mind what becomes of the work", async () => {
		const stopping = new AbortController();
		const work = createDeferred<number>();
		const waiting = unlessAborted(work.promise, stopping.signal);
		stopping.abort();
		expect(await waiting).toBeNull();
		work.reject(new Error("late"));
		expect(await unlessAborted(new Promise(() => {}), AbortSignal.abort())).toBeNull();
	});
});
