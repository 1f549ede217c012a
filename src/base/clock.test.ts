import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createFakeClock } from "../../test/support/host/campaign-clock.ts";
import { sleep, systemClock } from "./clock.ts";

describe("systemClock", () => {
	beforeEach(() => void vi.useFakeTimers());
	afterEach(() => void vi.useRealTimers());

	it("calls back once, after the time", () => {
		const callback = vi.fn();
		systemClock.after(500, callback);
		vi.advanceTimersByTime(499);
		expect(callback).not.toHaveBeenCalled();
		vi.advanceTimersByTime(1000);
		expect(callback).toHaveBeenCalledTimes(1);
	});

	it("does not call back once withdrawn", () => {
		const callback = vi.fn();
		systemClock.after(500, callback)();
		vi.advanceTimersByTime(1000);
		expect(callback).not.toHaveBeenCalled();
	});

	it("does not keep the process alive for background timers", () => {
		vi.useRealTimers();
		const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
		const before = timers();
		const withdrawals = [systemClock.after(60_000, () => {}), systemClock.after(60_000, () => {}, true)];
		expect(timers()).toBe(before + 1);
		for (const withdraw of withdrawals) withdraw();
	});

	it("waits longer than a timer of the platform can", () => {
		const thirtyDays = 30 * 24 * 3600 * 1000;
		const callback = vi.fn();
		const withdrawn = vi.fn();
		systemClock.after(thirtyDays, callback);
		const withdraw = systemClock.after(thirtyDays, withdrawn);
		vi.advanceTimersByTime(thirtyDays - 1);
		expect(callback).not.toHaveBeenCalled();
		withdraw();
		vi.advanceTimersByTime(1);
		expect(callback).toHaveBeenCalledTimes(1);
		expect(withdrawn).not.toHaveBeenCalled();
	});
});

describe("sleep", () => {
	it("resolves after the time and leaves no timer", async () => {
		const clock = createFakeClock();
		const slept = sleep(clock, 1000, new AbortController().signal);
		expect(clock.waiting()).toBe(1);
		clock.advance(1000);
		await slept;
		expect(clock.waiting()).toBe(0);
	});

	it("resolves at an abort and withdraws its timer", async () => {
		const clock = createFakeClock();
		const controller = new AbortController();
		const slept = sleep(clock, 1000, controller.signal);
		controller.abort();
		await slept;
		expect(clock.waiting()).toBe(0);
	});

	it("does not start once aborted", async () => {
		const clock = createFakeClock();
		await sleep(clock, 1000, AbortSignal.abort());
		expect(clock.waiting()).toBe(0);
	});
});
