// The oracle of the wedge campaign must notice what is wrong with a round. The campaign itself runs the built executable: its
// part of the tests is test/e2e/wedge.test.ts.
import { describe, expect, it } from "vitest";
import { type Case, megabyte } from "./wedge/case.ts";
import { wedgeCases } from "./wedge/cases.ts";
import { judge } from "./wedge/judge.ts";
import type { Measured } from "./wedge/round.ts";

const tried: Case = { area: "Glob", name: "stars", reached: /Glob ok/, set: () => ({}) };
const control = { begun: 100 };
const good: Measured = {
	isStart: false,
	begun: 120,
	beats: { count: 50, slowest: 30, slowestByClock: 40 },
	peak: 100 * megabyte,
	end: 50,
	exitCode: 0,
	outcome: "Glob ok: nothing",
	complaints: [],
};
const beats = (slowest: number) => ({ count: 50, slowest, slowestByClock: slowest });

describe("the oracle of the wedge campaign", () => {
	it("accepts a round in which nothing was delayed", () => {
		expect(judge(tried, good, control)).toEqual({ late: [], wrong: [] });
	});

	it.each<[string, Partial<Measured>, string]>([
		["a beat that came late", { beats: beats(1001) }, "a beat took 1001 ms, more than 1000"],
		["too much memory", { peak: 301 * megabyte }, "301 MB of memory, more than 300"],
		["an end that took long", { end: 2001 }, "the end took 2001 ms, more than 2000"],
		[
			"a start that took long",
			{ isStart: true, begun: 1101 },
			"the start took 1001 ms longer than usual, more than 1000",
		],
	])("notices %s, which may be the machine's fault", (_, measured, fault) => {
		expect(judge(tried, { ...good, ...measured }, control)).toEqual({ late: [fault], wrong: [] });
	});

	it.each<[string, Partial<Measured>, string]>([
		["a process that ended otherwise", { exitCode: 1 }, "exit code 1"],
		["a complaint", { complaints: ["Glob failed without a text"] }, "Glob failed without a text"],
		["that the tool was not reached", { outcome: "Glob error: x" }, "the outcome has no /Glob ok/: Glob error: x"],
	])("notices %s, which is nobody else's fault", (_, measured, fault) => {
		expect(judge(tried, { ...good, ...measured }, control)).toEqual({ late: [], wrong: [fault] });
	});

	it("applies the limits of the case instead of the usual ones", () => {
		const roomy = { ...tried, limits: { memory: 600 * megabyte } };
		expect(judge(roomy, { ...good, peak: 500 * megabyte }, control).late).toEqual([]);
	});
});

describe("the cases of the wedge campaign", () => {
	it("have names of their own", () => {
		const names = wedgeCases.map(({ area, name }) => `${area}: ${name}`);
		expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
	});
});
