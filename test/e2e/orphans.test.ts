// A small part of the orphans campaign, always the same: nothing a hostile process tree does lets it outlive its end.
import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import { runCampaign } from "../campaign/orphans/orphans.ts";

it.runIf(existsSync("/proc/self"))(
	"none of four hostile process trees outlives its end",
	{ timeout: 60_000 },
	async () => {
		const { findings } = await runCampaign({ rounds: 4, seed: 2, points: "all", log: () => undefined });
		expect(findings).toEqual([]);
	},
);
