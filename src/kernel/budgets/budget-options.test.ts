import { expect, it } from "vitest";
import { composeBudgets } from "./budget-options.ts";

const settings = {
	sessionTokens: 1000,
	sessionSeconds: 60,
	sessionToolCalls: null,
	turnTokens: null,
	turnSeconds: 0.5,
	turnToolCalls: 5,
	warningRatio: 0.9,
};

it("reads the budgets of the settings, times in milliseconds", () => {
	expect(composeBudgets(settings, {})).toEqual({
		session: { tokens: 1000, time: 60_000, "tool-calls": null },
		turn: { tokens: null, time: 500, "tool-calls": 5 },
		warningRatio: 0.9,
	});
});

it("overrides them with the options, except those that are null", () => {
	const asked = { sessionTokens: 2000, sessionSeconds: null, sessionToolCalls: 3, turnTokens: 10, turnSeconds: 2 };
	expect(composeBudgets(settings, asked)).toEqual({
		session: { tokens: 2000, time: 60_000, "tool-calls": 3 },
		turn: { tokens: 10, time: 2000, "tool-calls": 5 },
		warningRatio: 0.9,
	});
});
