import { describe, expect, it } from "vitest";
import { createDeferred, type Deferred } from "./deferred.ts";
import { createSharedRun } from "./shared-run.ts";

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
