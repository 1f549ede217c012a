import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { longestPause, shortestPause } from "../../test/support/host/pauses.ts";
import { runThread } from "./thread.ts";

const file = fileURLToPath(new URL("../../test/fixtures/threads/work.mjs", import.meta.url));
const limits = { time: 20_000, memory: 40 };
const never = new AbortController().signal;

describe("runThread", () => {
	it("returns what the thread posts, which has none of our environment", async () => {
		expect(await runThread(file, { kind: "answer", given: new Uint8Array([1]) }, limits, never)).toEqual({
			kind: "done",
			value: { environment: [], given: new Uint8Array([1]) },
		});
	});

	it.each([
		["loop", { time: 300 }, "timed-out"],
		["memory", {}, "out-of-memory"],
	])("ends a thread that would never end: %s", async (kind, own, outcome) => {
		const run = () => runThread(file, { kind }, { ...limits, ...own }, never);
		expect(await run()).toEqual({ kind: outcome });
		expect(await shortestPause(run)).toBeLessThan(longestPause);
	});

	it("ends the thread at an abort", async () => {
		const controller = new AbortController();
		const running = runThread(file, { kind: "loop" }, limits, controller.signal);
		controller.abort();
		expect(await running).toEqual({ kind: "aborted" });
		expect(await runThread(file, { kind: "answer" }, limits, AbortSignal.abort())).toEqual({ kind: "aborted" });
	});

	it.each([
		["throw", /gone wrong/],
		["nothing", /ended with code 0/],
	])("reports why there is no result: %s", async (kind, message) => {
		const outcome = await runThread(file, { kind }, limits, never);
		expect(outcome.kind === "failed" && outcome.error.message).toMatch(message);
	});

	it("reports a missing program", async () => {
		expect((await runThread(`${file}.none`, null, limits, never)).kind).toBe("failed");
	});
});
