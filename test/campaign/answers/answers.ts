// The answers campaign: generated answers of providers, most of them as wrong as can be, over real sockets to
// every adapter in turn. Each call ends; nothing else does: the process that reads them is a child, whose end would be seen.
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { type CampaignOptions, type CampaignReport, reportOn, Tally } from "../frame/campaign.ts";
import type { ChildReport } from "./answers-child.ts";
import { answerProtocols } from "./answers-protocols.ts";

/** Rounds of one child. */
const batchSize = 5000;
/** Milliseconds that a child may take for a round, and for its start. */
const roundPatience = 200;
const startPatience = 120_000;

const child = fileURLToPath(new URL("answers-child.ts", import.meta.url));

export function runCampaign({ rounds, seed, log }: CampaignOptions): Promise<CampaignReport> {
	return reportOn("answers", seed, () => playBatches(rounds, seed, log));
}

async function playBatches(rounds: number, seed: number, log: (line: string) => void) {
	const findings: string[] = [];
	const outcomes = new Tally();
	let exits = 0;
	let connections = 0;
	let longestPause = 0;
	let peakMemory = 0;
	for (let from = 0; from < rounds; from += batchSize) {
		const to = Math.min(rounds, from + batchSize);
		const report = await runBatch(seed, from, to);
		if (typeof report === "string") {
			exits += 1;
			const finding = `rounds ${from} to ${to}: ${report}`;
			log(finding);
			findings.push(finding);
			continue;
		}
		for (const finding of report.findings) log(finding);
		findings.push(...report.findings);
		for (const [name, count] of Object.entries(report.outcomes)) outcomes.add(name, count);
		connections += report.connections;
		longestPause = Math.max(longestPause, report.longestPause);
		peakMemory = Math.max(peakMemory, report.peakMemory);
		log(`${to} answers, ${findings.length} findings`);
	}
	const figures = {
		"provider types": answerProtocols.length,
		connections: connections,
		"ends of the process": exits,
		"longest pause of the event loop": `${longestPause} ms`,
		"peak memory": `${peakMemory} MB`,
		...outcomes.figures(),
	};
	return { rounds, findings, figures };
}

/** What the child found, or how it ended instead. */
async function runBatch(seed: number, from: number, to: number): Promise<ChildReport | string> {
	const { NODE_OPTIONS: _options, ...environment } = process.env;
	const running = spawn(process.execPath, ["--import", "tsx", child, ...[seed, from, to].map(String)], {
		stdio: ["ignore", "pipe", "pipe"],
		env: environment,
	});
	const timer = setTimeout(() => running.kill("SIGKILL"), startPatience + (to - from) * roundPatience);
	const ended = new Promise<string>((resolve) => {
		running.on("close", (code, signal) => resolve(signal ?? String(code)));
	});
	const [output, errors, end] = await Promise.all([text(running.stdout), text(running.stderr), ended]);
	clearTimeout(timer);
	if (end === "0" && output.startsWith("{")) return JSON.parse(output);
	return `the process ended with ${end}: ${errors.slice(-2000)}`;
}
