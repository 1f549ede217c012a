import { expect, it } from "vitest";
import { readLoad, readLoads } from "./loads.ts";

it("shares the sessions among 200 streams at most, one of which is stalled", () => {
	expect(readLoad("250x20")).toMatchObject({ sessions: 250, rate: 20, streams: 200, stalled: 1, isShared: false });
	expect(readLoad("20x5")).toMatchObject({ sessions: 20, rate: 5, streams: 20, stalled: 1, isShared: false });
});

it("stalls no stream when there is only one", () => {
	expect(readLoad("1x20")).toMatchObject({ streams: 1, stalled: 0 });
});

it("lets each of many clients read every session", () => {
	expect(readLoad("2x20x50")).toMatchObject({ sessions: 2, rate: 20, streams: 50, stalled: 0, isShared: true });
});

it.each(["", "250", "250x", "0x20", "250x0", "250x20x0", "250×20", "250x20x50x1", "-1x20", "1e3x20"])(
	"refuses %j as a load",
	(word) => {
		expect(() => readLoad(word)).toThrow("--load needs SESSIONSxRATE[xCLIENTS], as in 250x20");
	},
);

it("measures the chosen loads in their order, and the usual ones when none is chosen", () => {
	expect(readLoads(["1x20x50", "20x20"]).map(({ name }) => name)).toEqual(["1x20x50", "20x20"]);
	expect(readLoads([]).map(({ name }) => name)).toContain("1000x20");
});
