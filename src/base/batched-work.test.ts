import { describe, expect, it } from "vitest";
import { createBatchedWork } from "./batched-work.ts";
import { createDeferred } from "./deferred.ts";

describe("batched work", () => {
	it("does together what was asked for during a run, in the order given", async () => {
		const runs: (readonly number[])[] = [];
		const gate = createDeferred<void>();
		const add = createBatchedWork<number>(async (items) => {
			runs.push(items);
			await gate.promise;
		});
		const all = Promise.all([1, 2, 3].map(add));
		gate.resolve();
		await all;
		await add(4);
		expect(runs).toEqual([[1], [2, 3], [4]]);
	});

	it("fails the items of a run that fails, and goes on", async () => {
		const add = createBatchedWork<number>(async (items) => {
			if (items.includes(1)) throw new Error("no");
		});
		const outcomes = await Promise.allSettled([add(1), add(2)]);
		expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
	});
});
