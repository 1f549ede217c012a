import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { longestPause, shortestPause } from "../../../test/support/host/pauses.ts";
import { runThread, watchGrowth } from "./thread.ts";

const file = fileURLToPath(new URL("../../../test/fixtures/threads/work.mjs", import.meta.url));
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

it("a thread of a runtime without limits ends when the process has grown by more than it may", () => {
	vi.useFakeTimers();
	onTestFinished(() => void vi.useRealTimers());
	let resident = 100_000_000;
	const exceeded = vi.fn();
	const end = watchGrowth(10, exceeded, () => resident);
	resident += 20_000_000;
	vi.advanceTimersByTime(1000);
	expect(exceeded).not.toHaveBeenCalled();
	resident += 1;
	vi.advanceTimersByTime(20);
	expect(exceeded).toHaveBeenCalledTimes(1);
	end();
	vi.advanceTimersByTime(1000);
	expect(exceeded).toHaveBeenCalledTimes(1);
});
