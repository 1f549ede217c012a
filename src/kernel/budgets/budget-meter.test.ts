import { describe, expect, it } from "vitest";
import { type Amounts, BudgetMeter, type Limits } from "./budget-meter.ts";

const none: Limits = { tokens: null, time: null, "tool-calls": null };

function createMeter(limits: Partial<Limits>, used: Amounts | null = null, warningRatio = 0.8): BudgetMeter {
	return new BudgetMeter({ scope: "turn", limits: { ...none, ...limits }, warningRatio, used });
}

describe("a budget meter", () => {
	it("is never warned about or exhausted without a limit", () => {
		const meter = createMeter({});
		meter.add("tokens", Number.MAX_SAFE_INTEGER);
		meter.add("time", Number.MAX_SAFE_INTEGER);
		meter.add("tool-calls", Number.MAX_SAFE_INTEGER);
		expect([meter.takeWarnings(), meter.exhausted(), meter.untilNews()]).toEqual([[], null, null]);
	});

	it.each([
		["tokens", 100, [79, 1, 19, 1], { used: 80, limit: 100 }, { used: 100, limit: 100 }],
		["tool-calls", 5, [3, 1, 0, 1], { used: 4, limit: 5 }, { used: 5, limit: 5 }],
		["time", 2000, [1599, 1, 399, 1], { used: 1.6, limit: 2 }, { used: 2, limit: 2 }],
	] as const)("warns about %s once at 80 %% and is exhausted at the limit", (budget, limit, steps, warned, spent) => {
		const meter = createMeter({ [budget]: limit });
		const seen = steps.map((amount) => {
			meter.add(budget, amount);
			return [meter.takeWarnings(), meter.exhausted()];
		});
		const state = { budget, scope: "turn" };
		expect(seen).toEqual([
			[[], null],
			[[{ ...state, ...warned }], null],
			[[], null],
			[[], { ...state, ...spent }],
		]);
	});

	it("tells times in whole milliseconds", () => {
		const meter = createMeter({ time: 500 });
		meter.add("time", 401.138);
		expect(meter.takeWarnings()).toEqual([{ budget: "time", scope: "turn", used: 0.401, limit: 0.5 }]);
		meter.add("time", 100.1);
		expect(meter.exhausted()).toEqual({ budget: "time", scope: "turn", used: 0.501, limit: 0.5 });
	});

	it("warns when an amount passes the limit at once", () => {
		const meter = createMeter({ tokens: 10 });
		meter.add("tokens", 25);
		const state = { budget: "tokens", scope: "turn", used: 25, limit: 10 };
		expect([meter.takeWarnings(), meter.exhausted()]).toEqual([[state], state]);
	});

	it("does not warn again about an amount that was already exceeded", () => {
		const meter = createMeter({ tokens: 10, "tool-calls": 10 }, { tokens: 9, time: 0, "tool-calls": 7 });
		meter.add("tokens", 1);
		meter.add("tool-calls", 1);
		expect(meter.takeWarnings()).toEqual([{ budget: "tool-calls", scope: "turn", used: 8, limit: 10 }]);
	});

	it("checks only the given budgets", () => {
		const meter = createMeter({ tokens: 1, "tool-calls": 1 });
		meter.add("tokens", 1);
		expect(meter.exhausted(["tool-calls"])).toBeNull();
		expect(meter.exhausted()).toMatchObject({ budget: "tokens" });
	});

	it("returns the time until the warning and until the end, then nothing", () => {
		const meter = createMeter({ time: 1000 }, null, 0.5);
		const untilNews = [200, 300, 500].map((amount) => {
			const wait = meter.untilNews();
			meter.add("time", amount);
			meter.takeWarnings();
			return wait;
		});
		expect([...untilNews, meter.untilNews()]).toEqual([500, 300, 500, null]);
	});
});
