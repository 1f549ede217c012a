// A small part of the wedge campaign, always the same: nothing hostile holds the process, fills it or ends it.
import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import { runCampaign } from "../../scripts/campaign/wedge/wedge.ts";

it.runIf(existsSync("/proc/self"))("ten hostile things hold nobody up", { timeout: 120_000 }, async () => {
	const { findings } = await runCampaign({ rounds: 10, seed: 4, points: "all", log: () => undefined });
	expect(findings).toEqual([]);
});
