import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../../../test/support/host/campaign-clock.ts";
import { createSilenceWatch } from "./silence.ts";

describe("the silence of a server", () => {
	it.each([
		["nobody sets the clock", 0],
		["the clock is set back by an hour", -3_600_000],
		["the clock is set forward by an hour", 3_600_000],
	])("is noticed after its time, and not before, when %s", (_, by) => {
		const clock = createFakeClock();
		let calls = 0;
		const watch = createSilenceWatch(clock, () => {
			calls += 1;
		});
		watch.begin(10_000);
		clock.advance(6_000);
		// Something arrives: the time begins anew.
		watch.end();
		watch.begin(10_000);
		clock.setTime(by);
		clock.advance(9_999);
		expect(calls).toBe(0);
		clock.advance(1);
		expect(calls).toBe(1);
	});
});
