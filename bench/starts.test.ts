import { expect, it } from "vitest";
import type { Measure } from "./report.ts";
import { findRegressions, toRatios } from "./starts.ts";

const measure = (name: string, unit: Measure["unit"], values: Record<string, number[]>): Measure => ({
	name,
	unit,
	values: new Map(Object.entries(values)),
});

it("compares medians with bare Node, where it was measured as well", () => {
	const ratios = toRatios(
		[
			measure("start", "ms", { agentwire: [40, 60, 50], "bare node": [20, 25, 30] }),
			measure("rate", "events/s", { agentwire: [1] }),
		],
		"bare node",
	);
	expect(ratios).toEqual({ start: { agentwire: 2 } });
});

it("names what became slower by more than 15 %, and nothing else", () => {
	const committed = { start: { agentwire: 2, "one file": 1, peer: 1 } };
	expect(findRegressions({ start: { agentwire: 2.29, "one file": 1.16 } }, committed)).toEqual([
		"start: one file takes 1.16 times as long as bare Node; committed is 1.00.",
	]);
});
