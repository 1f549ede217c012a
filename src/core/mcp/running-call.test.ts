import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import { nobodyToAsk } from "../../../test/support/sessions/session-doubles.ts";
import { createDeferred } from "../../base/deferred.ts";
import { startCall } from "./running-call.ts";

function start(timeout = 1000) {
	const clock = createFakeClock();
	const outer = new AbortController();
	const call = startCall({ questions: nobodyToAsk, toolCallId: "c" }, timeout, clock, outer.signal);
	return { clock, outer, call };
}

describe("the timeout of a call", () => {
	it("expires", () => {
		const { clock, call } = start();
		clock.advance(999);
		expect([call.signal.aborted, call.isLate()]).toEqual([false, false]);
		clock.advance(1);
		expect([call.signal.aborted, call.isLate()]).toEqual([true, true]);
	});

	it("is suspended during questions, however many there are at once", async () => {
		const { clock, call } = start();
		clock.advance(600);
		const answers = [createDeferred<string>(), createDeferred<string>()] as const;
		const asked = answers.map(({ promise }) => call.untimed(() => promise));
		clock.advance(1_000_000);
		answers[0].resolve("one");
		expect(await asked[0]).toBe("one");
		clock.advance(1_000_000);
		answers[1].reject(new Error("gone"));
		await expect(asked[1]).rejects.toThrow("gone");
		clock.advance(399);
		expect(call.isLate()).toBe(false);
		clock.advance(1);
		expect(call.isLate()).toBe(true);
	});

	it("ends with the call", async () => {
		const { clock, outer, call } = start();
		const answer = createDeferred<void>();
		const asked = call.untimed(() => answer.promise);
		call.end();
		answer.resolve();
		await asked;
		outer.abort();
		clock.advance(10_000);
		expect([call.signal.aborted, clock.waiting()]).toEqual([false, 0]);
	});
});

describe("cancelling a call", () => {
	it("is distinguished from its timeout", () => {
		const { outer, call } = start();
		outer.abort();
		expect([call.signal.aborted, call.isLate()]).toEqual([true, false]);
	});

	it("can precede the call", () => {
		const outer = new AbortController();
		outer.abort();
		const asker = { questions: nobodyToAsk, toolCallId: "c" };
		expect(startCall(asker, 1000, createFakeClock(), outer.signal).signal.aborted).toBe(true);
	});
});
