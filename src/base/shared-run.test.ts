import { describe, expect, it } from "vitest";
import { collectGarbage } from "../../test/support/host/garbage.ts";
import { createDeferred, type Deferred } from "./deferred.ts";
import { createSharedRun, createSharedRuns } from "./shared-run.ts";

function createSubject() {
	const runs: Deferred<string>[] = [];
	const ask = createSharedRun(() => {
		const run = createDeferred<string>();
		runs.push(run);
		return run.promise;
	});
	return { runs, ask };
}

describe("a shared run", () => {
	it("serves all callers that arrive during a run with one next run", async () => {
		const { runs, ask } = createSubject();
		const first = ask();
		const others = [ask(), ask(), ask()];
		expect(runs).toHaveLength(1);
		runs[0]?.resolve("before");
		expect(await first).toBe("before");
		expect(runs).toHaveLength(2);
		runs[1]?.resolve("behind");
		expect(await Promise.all(others)).toEqual(["behind", "behind", "behind"]);
	});

	it("starts anew when nothing runs", async () => {
		const { runs, ask } = createSubject();
		const first = ask();
		runs[0]?.resolve("one");
		await first;
		const second = ask();
		expect(runs).toHaveLength(2);
		runs[1]?.resolve("two");
		expect(await second).toBe("two");
	});

	it("fails only its own callers", async () => {
		const { runs, ask } = createSubject();
		const first = ask();
		const second = ask();
		runs[0]?.reject(new Error("no"));
		await expect(first).rejects.toThrow("no");
		runs[1]?.resolve("yes");
		expect(await second).toBe("yes");
	});
});

describe("shared runs", () => {
	it("are shared by callers with the same key alone, of whom the last says what is done", async () => {
		const runs = createSharedRuns<string>();
		const gate = createDeferred<string>();
		const first = runs("a", () => gate.promise);
		const others = ["one", "two"].map((name) => runs("a", async () => name));
		expect(await runs("b", async () => "other")).toBe("other");
		gate.resolve("first");
		expect(await Promise.all([first, ...others])).toEqual(["first", "two", "two"]);
	});

	it("go on after a failure, which is that of the callers of its run", async () => {
		const runs = createSharedRuns<string>();
		const failed = runs("a", () => Promise.reject(new Error("no")));
		const next = runs("a", async () => "yes");
		await expect(failed).rejects.toThrow("no");
		expect(await next).toBe("yes");
		expect(await runs("a", async () => "again")).toBe("again");
	});

	it("hold nothing of work that is done", async () => {
		const runs = createSharedRuns<number>();
		const use = async (): Promise<WeakRef<object>> => {
			const held = { size: 1 };
			await runs("a", async () => held.size);
			return new WeakRef(held);
		};
		const used = await use();
		// A weak reference holds until the end of the turn of the event loop that made it.
		await new Promise((resolve) => setImmediate(resolve));
		collectGarbage();
		expect(used.deref()).toBeUndefined();
		expect(await runs("a", async () => 2)).toBe(2);
	});
});
