// A small part of the wedge campaign, always the same: nothing hostile hangs the process, fills its memory or ends it. How long
// answers take is for the campaign to say, on a machine with nothing else to do.
import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import { runCampaign } from "../campaign/wedge/wedge.ts";

it.runIf(existsSync("/proc/self"))(
	"four hostile texts neither hang, fill nor end the process",
	{ timeout: 120_000 },
	async () => {
		const { findings } = await runCampaign({ rounds: 4, seed: 4, points: "all", log: () => undefined });
		expect(findings.filter((finding) => !/ms(?: longer than usual)?, more than \d+$/.test(finding))).toEqual([]);
	},
);
