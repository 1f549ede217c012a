// A fixed-seed piece of the fuzz campaign for Meerkat RPC: a thousand lines in memory.
import { expect, it } from "vitest";
import { runCampaign } from "../../scripts/campaign/meerkat/fuzz.ts";

it("answers any line as the protocol of many sessions says", async () => {
	const options = { rounds: 1000, processRounds: 0, seed: 20, points: "all", log: () => {} } as const;
	const { findings, figures } = await runCampaign(options);
	expect(findings).toEqual([]);
	expect(figures["memory: answered with result"]).toBeGreaterThan(100);
});
