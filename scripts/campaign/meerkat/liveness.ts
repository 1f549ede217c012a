// The liveness campaign for Meerkat RPC: random interleavings of many sessions over one connection.
import type { CampaignOptions, CampaignReport } from "../frame/campaign.ts";
import { runInterleavings } from "../liveness/liveness.ts";
import { hostedInterleaving } from "./liveness-actions.ts";
import { runHostedInterleaving } from "./liveness-run.ts";

export function runCampaign(options: CampaignOptions): Promise<CampaignReport> {
	return runInterleavings({ arbitrary: hostedInterleaving, run: runHostedInterleaving }, options);
}
