// Meerkat RPC, as campaigns see it.
import type { CampaignOptions, CampaignReport } from "../frame/campaign.ts";
import { runFuzz } from "../frame/fuzz.ts";
import { meerkatFuzz } from "./fuzz.ts";

export function runCampaign(options: CampaignOptions): Promise<CampaignReport> {
	return runFuzz(meerkatFuzz, "--dialect meerkat --kind fuzz", options);
}
