// The parsers campaign: random and damaged shell scripts. The programs that the product finds in one are those that two other
// parsers find, with bash to decide where these differ, or it doubts and a person is asked.
import { fileURLToPath } from "node:url";
import { type CampaignOptions, type CampaignReport, reportOn, Tally } from "../frame/campaign.ts";
import { playBatches } from "../frame/children.ts";
import type { ParsersReport } from "./parsers-child.ts";

/** Scripts that a child plays at most: it takes a second to start. */
const largestBatch = 10_000;
/** Scripts shown that no other parser understands as bash does, to see whether they and not the comparison are at fault. */
const shownDecisions = 3;
/** Milliseconds that a child may take, its findings' shrinking included. */
const patience = 600_000;
const child = fileURLToPath(new URL("parsers-child.ts", import.meta.url));

export function runCampaign({ rounds, seed, log }: CampaignOptions): Promise<CampaignReport> {
	return reportOn("parsers", seed, async () => {
		const started = performance.now();
		const outcomes = new Tally();
		const findings: string[] = [];
		const decided: string[] = [];
		let played = 0;
		const size = Math.min(largestBatch, Math.ceil(rounds / 2));
		await playBatches({ child, seed, rounds, size, patience }, (batch, output, failure) => {
			played += batch.to - batch.from;
			if (failure === null) {
				const report: ParsersReport = JSON.parse(output);
				for (const [name, count] of Object.entries(report.outcomes)) outcomes.add(name, count);
				for (const finding of report.findings) log(finding);
				findings.push(...report.findings);
				decided.push(...report.decided.slice(0, shownDecisions - decided.length));
			} else findings.push(`rounds ${batch.from} to ${batch.to}: ${failure}`);
			log(`${played} scripts, ${findings.length} findings`);
		});
		for (const line of decided) log(`bash alone, ${line}`);
		const perSecond = Math.round((rounds * 1000) / (performance.now() - started));
		return { rounds, findings, figures: { "scripts per second": perSecond, ...outcomes.figures() } };
	});
}
