import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import type { TurnError } from "../../api/values/event.ts";
import { silentLog } from "../../base/log.ts";
import { emptySummary } from "../../ports/store/journal-summary.ts";
import { Budgets } from "./budgets.ts";

describe("the time budget of a turn", () => {
	it.each([
		["nobody sets the clock", 0],
		["the clock is set back by an hour", -3_600_000],
		["the clock is set forward by an hour", 3_600_000],
	])("is used up after its time, and not before, when %s", (_, by) => {
		const clock = createFakeClock();
		const errors: TurnError[] = [];
		const limits = { tokens: null, time: 10_000, "tool-calls": null };
		const budgets = new Budgets({
			limits: { session: { ...limits, time: 3_600_000 }, turn: limits, warningRatio: 0.8 },
			stored: { id: "s", summary: emptySummary },
			clock,
			log: silentLog,
			warn: () => {},
		});
		budgets.openTurn((error) => errors.push(error));
		clock.advance(4_000);
		expect(budgets.inTurn.exhausted()).toBeNull();
		clock.setTime(by);
		clock.advance(5_999);
		expect([budgets.inTurn.exhausted(), errors]).toEqual([null, []]);
		clock.advance(1);
		expect(errors).toHaveLength(1);
		expect(budgets.closeTurn()).toMatchObject({ milliseconds: 10_000 });
	});
});
