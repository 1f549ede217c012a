import { describe, expect, it } from "vitest";
import { createDeferred } from "../../../base/deferred.ts";
import { type Prompt, Prompts } from "./prompts.ts";

/** Two prompts, of which the first runs until it is released. */
function createTwo() {
	const prompts = new Prompts();
	const held = createDeferred<void>();
	const seen: Prompt[] = [];
	const done: string[] = [];
	const run = (name: string, work: () => Promise<string>) =>
		prompts
			.run(work, (prompt) => seen.push(prompt))
			.then((result) => {
				done.push(`${name} ${result ?? "cancelled"}`);
			});
	const first = run("first", async () => {
		await held.promise;
		return "ended";
	});
	const second = run("second", async () => "ended");
	return { prompts, held, seen, done, all: Promise.all([first, second]) };
}

describe("the prompts of a session", () => {
	it("run one after the other", async () => {
		const { prompts, held, done, all } = createTwo();
		expect([prompts.isBusy, prompts.isEmpty]).toEqual([true, false]);
		held.resolve();
		await all;
		expect(done).toEqual(["first ended", "second ended"]);
		expect([prompts.isBusy, prompts.isEmpty]).toEqual([false, true]);
	});

	it("are all cancelled in their order: those that wait never run", async () => {
		const { prompts, held, seen, done, all } = createTwo();
		await Promise.resolve();
		prompts.cancel();
		expect(seen.map(({ isCancelled }) => isCancelled)).toEqual([true, true]);
		held.resolve();
		await all;
		expect(done).toEqual(["first ended", "second cancelled"]);
	});

	it("give a side question as cancelled at once, and what it comes to later is nobody's", async () => {
		const prompts = new Prompts();
		const answer = createDeferred<string>();
		const asked = prompts.runConcurrently(() => answer.promise);
		expect([prompts.isBusy, prompts.isEmpty]).toEqual([false, false]);
		prompts.cancel();
		expect(await asked).toBeNull();
		answer.reject(new Error("late"));
		expect(prompts.isEmpty).toBe(true);
	});

	it("pass on what a prompt throws, and go on with the next one", async () => {
		const prompts = new Prompts();
		const failing = prompts.run(async () => Promise.reject(new Error("no")));
		const next = prompts.run(async () => "ended");
		await expect(failing).rejects.toThrow("no");
		expect(await next).toBe("ended");
	});
});
