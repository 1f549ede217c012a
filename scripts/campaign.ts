// The campaign command: runs one kind of campaign and prints its progress, figures and findings. Knows no campaign's insides.
import { parseArgs } from "node:util";
import type { CampaignOptions, CampaignReport } from "./campaign/campaign.ts";

interface CampaignModule {
	runCampaign(options: CampaignOptions): Promise<CampaignReport>;
}

interface CampaignKind {
	readonly rounds: number;
	readonly load: () => Promise<CampaignModule>;
}

const kinds: ReadonlyMap<string, CampaignKind> = new Map([
	["fuzz", { rounds: 100_000, load: () => import("./campaign/fuzz.ts") }],
	["liveness", { rounds: 2_000, load: () => import("./campaign/liveness.ts") }],
	["crash", { rounds: 100, load: () => import("./campaign/crash.ts") }],
	["kill", { rounds: 100, load: () => import("./campaign/kill.ts") }],
	["orphans", { rounds: 100, load: () => import("./campaign/orphans.ts") }],
]);
