import { expect, it } from "vitest";
import { runCampaign } from "./answers/answers.ts";

it("a small answers campaign finds nothing", { timeout: 120_000 }, async () => {
	const { findings, figures } = await runCampaign({ rounds: 120, seed: 7, points: "all", log: () => {} });
	expect(findings).toEqual([]);
	expect(figures["ends of the process"]).toBe(0);
});
