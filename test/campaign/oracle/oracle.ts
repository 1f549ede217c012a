// The oracle campaign: random shell scripts are really run, with stub programs that log their arguments. Every program that ran
// was predicted with its words, or the product doubted and a person would have been asked.
import { fileURLToPath } from "node:url";
import { type CampaignOptions, type CampaignReport, reportOn, Tally } from "../frame/campaign.ts";
import { playBatches } from "../frame/children.ts";
import type { OracleReport } from "./oracle-child.ts";

const batchSize = 1000;
/** Milliseconds that a child may take, its findings' shrinking included. */
const patience = 900_000;
const child = fileURLToPath(new URL("oracle-child.ts", import.meta.url));

export function runCampaign({ rounds, seed, log }: CampaignOptions): Promise<CampaignReport> {
	return reportOn("oracle", seed, async () => {
		const started = performance.now();
		const outcomes = new Tally();
		const findings: string[] = [];
		let played = 0;
		let executions = 0;
		let skipped = 0;
		await playBatches({ child, seed, rounds, size: batchSize, patience }, (batch, output, failure) => {
			const size = batch.to - batch.from;
			if (failure !== null) {
				findings.push(`rounds ${batch.from} to ${batch.to}: ${failure}`);
				return;
			}
			const report: OracleReport | null = JSON.parse(output);
			if (report === null) {
				skipped += size;
				return;
			}
			played += size;
			executions += report.executions;
			for (const [name, count] of Object.entries(report.outcomes)) outcomes.add(name, count);
			for (const finding of report.findings) log(finding);
			findings.push(...report.findings);
			log(`${played} scripts, ${findings.length} findings`);
		});
		if (skipped > 0) log("skipped: scripts cannot be run here (bwrap, bash and dash are needed)");
		const perSecond = Math.round((played * 1000) / (performance.now() - started));
		return {
			rounds: played,
			findings,
			figures: { "scripts per second": perSecond, "programs run": executions, skipped, ...outcomes.figures() },
		};
	});
}
