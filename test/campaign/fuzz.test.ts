// A fixed-seed piece of the fuzz campaign: five hundred lines in memory.
import { expect, it } from "vitest";
import { runCampaign } from "../../scripts/campaign/fuzz/fuzz.ts";

it("answers any line as the protocol says", async () => {
	const { findings } = await runCampaign({ rounds: 500, processRounds: 0, seed: 20, points: "all", log: () => {} });
	expect(findings).toEqual([]);
});
