import { describe, expect, it } from "vitest";
import { createDeferred } from "../../../base/deferred.ts";
import { maximumQueue, TurnQueue } from "./turn-queue.ts";

/** A queue, and turns that end when the test says so. */
function createSubject() {
	const queue = new TurnQueue();
	const begun: string[] = [];
	const run = (session: string, name: string) => {
		const end = createDeferred<string>();
		const ended = queue.run(session, () => {
			begun.push(name);
			return end.promise;
		});
		return { end, ended };
	};
	return { queue, begun, run };
}

describe("turns of one session", () => {
	it("run one after the other, in the order in which they came, and the first at once", async () => {
		const { begun, run } = createSubject();
		const one = run("s", "one");
		const two = run("s", "two");
		const three = run("s", "three");
		expect(begun).toEqual(["one"]);
		one.end.resolve("1");
		expect(await one.ended).toBe("1");
		two.end.resolve("2");
		expect(await two.ended).toBe("2");
		three.end.resolve("3");
		expect(await three.ended).toBe("3");
		expect(begun).toEqual(["one", "two", "three"]);
	});

	it("run after one that failed", async () => {
		const { begun, run } = createSubject();
		const one = run("s", "one");
		const two = run("s", "two");
		one.end.reject(new Error("no"));
		await expect(one.ended).rejects.toThrow("no");
		two.end.resolve("2");
		expect(await two.ended).toBe("2");
		expect(begun).toEqual(["one", "two"]);
	});

	it("do not wait for those of another", () => {
		const { begun, run } = createSubject();
		run("s", "one");
		run("t", "two");
		expect(begun).toEqual(["one", "two"]);
	});

	it("are refused when too many wait", async () => {
		const { run } = createSubject();
		run("s", "running");
		for (let waiting = 0; waiting < maximumQueue; waiting += 1) run("s", `${waiting}`);
		await expect(run("s", "more").ended).rejects.toMatchObject({ code: "overloaded", data: { limit: maximumQueue } });
	});
});

it("lets turns wait for one that was begun elsewhere", async () => {
	const { queue, begun, run } = createSubject();
	const created = createDeferred<void>();
	const adding = queue.add("s", created.promise);
	const next = run("s", "next");
	expect(begun).toEqual([]);
	created.resolve();
	await adding;
	next.end.resolve("done");
	expect(await next.ended).toBe("done");
});
