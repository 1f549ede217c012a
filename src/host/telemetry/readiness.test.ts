import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import { createDeferred } from "../../base/deferred.ts";
import { createReadiness, readinessTime } from "./readiness.ts";

describe("readiness", () => {
	it("is what the check says, once for all who ask within a second", async () => {
		const clock = createFakeClock();
		let checks = 0;
		let isBroken = false;
		const isReady = createReadiness(async () => {
			checks += 1;
			if (isBroken) throw new Error("gone");
		}, clock);
		expect(await Promise.all([isReady(), isReady()])).toEqual([true, true]);
		isBroken = true;
		expect(await isReady()).toBe(true);
		expect(checks).toBe(1);
		clock.advance(readinessTime);
		expect(await isReady()).toBe(false);
		expect(checks).toBe(2);
	});

	it("is not there while the check hangs, of which there is one at a time", async () => {
		const clock = createFakeClock();
		const hanging = createDeferred<void>();
		let checks = 0;
		const isReady = createReadiness(() => {
			checks += 1;
			return hanging.promise;
		}, clock);
		for (let n = 0; n < 3; n += 1) {
			const answer = isReady();
			clock.advance(readinessTime);
			expect(await answer).toBe(false);
		}
		expect(checks).toBe(1);
		hanging.resolve();
		expect(await isReady()).toBe(true);
	});
});
