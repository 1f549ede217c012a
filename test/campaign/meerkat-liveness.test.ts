// A fixed-seed piece of the liveness campaign for Meerkat RPC: thirty interleavings of many sessions.
import { expect, it } from "vitest";
import { runCampaign } from "../../scripts/campaign/meerkat/liveness.ts";

it("ends every request and every run, and lets no session wait for another", { timeout: 60_000 }, async () => {
	const options = { rounds: 30, seed: 20, points: "all", log: () => {} } as const;
	const { findings, figures } = await runCampaign(options);
	expect(findings).toEqual([]);
	expect(figures["run_started"]).toBeGreaterThan(50);
});
