import { expect, it } from "vitest";
import { type LoadMeasure, toLoadTable } from "./report.ts";

const measure = (load: string, name: string, isCompared: boolean, values: Record<string, number[]>): LoadMeasure => ({
	load,
	name,
	unit: "ms",
	isCompared,
	values: new Map(Object.entries(values)),
});

it("has a column for each program and relates what is compared to the floor", () => {
	const measures = [
		measure("20x20", "99 of 100 within", true, { ours: [4, 2, 3], peer: [1.5], floor: [1] }),
		measure("20x20", "provider late", false, { ours: [2], peer: [2], floor: [1] }),
		measure("1x20x50", "99 of 100 within", true, { ours: [5], floor: [2] }),
	];
	expect(toLoadTable(measures, ["ours", "peer", "floor"], "floor").split("\n")).toEqual([
		"| load    | measure          |           ours |           peer |  floor |",
		"| :------ | :--------------- | -------------: | -------------: | -----: |",
		"| 20x20   | 99 of 100 within | 3.0 ms (3.00×) | 1.5 ms (1.50×) | 1.0 ms |",
		"|         | provider late    |         2.0 ms |         2.0 ms | 1.0 ms |",
		"| 1x20x50 | 99 of 100 within | 5.0 ms (2.50×) |                | 2.0 ms |",
	]);
});

it("compares nothing with a floor that was not measured", () => {
	const table = toLoadTable([measure("20x20", "cost", true, { ours: [2], floor: [] })], ["ours", "floor"], "floor");
	expect(table.split("\n")[2]).toBe("| 20x20 | cost    | 2.0 ms |       |");
});
