// A fixed-seed piece of the liveness campaign: a thousand interleavings.
import { expect, it } from "vitest";
import { runCampaign } from "../../scripts/campaign/liveness/liveness.ts";

it("ends every request and every turn, whatever client, model and time do", { timeout: 60_000 }, async () => {
	const { findings } = await runCampaign({ rounds: 1000, seed: 20, points: "all", log: () => {} });
	expect(findings).toEqual([]);
});
