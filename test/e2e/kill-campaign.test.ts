// A small part of the kill campaign, always the same: processes are killed at random moments, and what they reported is found.
import { describe, expect, it } from "vitest";
import { frontEnd as meerkat } from "../campaign/meerkat/front-end.ts";
import { frontEnd as wire } from "../campaign/wire/front-end.ts";

describe("the kill campaign", () => {
	it("finds nothing in 5 rounds", { timeout: 120_000 }, async () => {
		const { findings, figures } = await wire.kill({ rounds: 5, seed: 20, points: "all", log: () => {} });
		expect(findings).toEqual([]);
		expect(figures["killed before the end"]).toBeGreaterThan(1);
	});
});

describe("the kill campaign of many sessions", () => {
	it("finds nothing in a round of 20 sessions", { timeout: 120_000 }, async () => {
		const { findings, figures } = await meerkat.kill({ rounds: 1, seed: 20, points: "all", log: () => {} });
		expect(findings).toEqual([]);
		expect(figures["sessions reported and found"]).toBeGreaterThan(6);
	});
});
