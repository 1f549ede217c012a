// The clients campaign: many clients with random speeds, disconnects, cursors and answers on one session.
import { type CampaignOptions, type CampaignReport, reportOn, Tally } from "../frame/campaign.ts";
import { playCases } from "../frame/cases.ts";
import { createSocketPlace, inMemory, type Place } from "./access.ts";
import { clientsCases } from "./actions.ts";
import { findDelays } from "./delays.ts";
import { playRound } from "./round.ts";

export async function runCampaign(options: CampaignOptions): Promise<CampaignReport> {
	return await runClients(options, options.over === "socket" ? createSocketPlace() : inMemory);
}

/** `place` is where the session is for its clients; `shrinkLimit` as of the cases. */
export async function runClients(
	options: CampaignOptions,
	place: Place,
	shrinkLimit = 20_000,
): Promise<CampaignReport> {
	return await reportOn("clients", options.seed, async () => {
		const tally = new Tally();
		const { rounds, findings } = await playCases(
			{
				command: place.isInProcess ? "--kind clients" : "--kind clients --over socket",
				arbitrary: clientsCases,
				play: (value) => playRound(value, place, tally),
				describe: ({ settings, abilities, steps }) => [
					JSON.stringify(settings),
					...abilities.map((ability, index) => `client ${index}: ${JSON.stringify(ability)}`),
					...steps.map((step) => JSON.stringify(step)),
				],
				isEven: true,
				perSeed: 500,
				shrinkLimit,
			},
			options,
		);
		const figures = tally.figures();
		// With faults, or a single case, the times say nothing.
		if (findings.length > 0 || options.path !== undefined) return { rounds, findings, figures };
		const delays = await findDelays(place);
		return { rounds, findings: delays.findings, figures: { ...figures, ...delays.figures } };
	});
}
