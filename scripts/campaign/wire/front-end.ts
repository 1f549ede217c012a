// Kimi Wire and legacy, as campaigns see them.
import type { CampaignOptions, CampaignReport } from "../frame/campaign.ts";
import { runFuzz } from "../frame/fuzz.ts";
import { wireFuzz } from "./fuzz.ts";

export function runCampaign(options: CampaignOptions): Promise<CampaignReport> {
	return runFuzz(wireFuzz, "--kind fuzz", options);
}
