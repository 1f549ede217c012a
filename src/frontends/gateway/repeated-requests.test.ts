import { describe, expect, it } from "vitest";
import { createDeferred } from "../../base/deferred.ts";
import { answerLife, RepeatedRequests, rememberedAnswers } from "./repeated-requests.ts";

describe("RepeatedRequests", () => {
	it("does the work of one key once, also while it is being done", async () => {
		const repeated = new RepeatedRequests(() => 0);
		const done = createDeferred<string>();
		let count = 0;
		const work = () => {
			count += 1;
			return done.promise;
		};
		const answers = [repeated.once("k", "r", work), repeated.once("k", "r", work)];
		done.resolve("answer");
		expect(await Promise.all(answers)).toEqual(["answer", "answer"]);
		expect(await repeated.once("k", "r", work)).toBe("answer");
		expect(count).toBe(1);
	});

	it("refuses a key that came with another request", async () => {
		const repeated = new RepeatedRequests(() => 0);
		await repeated.once("k", "r", async () => 1);
		await expect(repeated.once("k", "other", async () => 2)).rejects.toThrow("a different request");
	});

	it("tries again what failed", async () => {
		const repeated = new RepeatedRequests(() => 0);
		const failing = async () => {
			throw new Error("busy");
		};
		await expect(repeated.once("k", "r", failing)).rejects.toThrow("busy");
		expect(await repeated.once("k", "r", async () => 2)).toBe(2);
	});

	it("forgets after a while, and when there are too many", async () => {
		let now = 0;
		const repeated = new RepeatedRequests(() => now);
		await repeated.once("old", "r", async () => 1);
		now += answerLife;
		expect(await repeated.once("old", "r", async () => 2)).toBe(2);
		for (let index = 0; index < rememberedAnswers; index += 1) await repeated.once(`${index}`, "r", async () => index);
		expect(await repeated.once("old", "r", async () => 3)).toBe(3);
		expect(await repeated.once(`${rememberedAnswers - 1}`, "r", async () => -1)).toBe(rememberedAnswers - 1);
	});
});
