// The liveness campaign: random interleavings of client, model and time, each checked against the protocol's promises.
import fc from "fast-check";
import type { CampaignOptions, CampaignReport } from "../frame/campaign.ts";
import { interleaving } from "./liveness-actions.ts";
import { type InterleavingReport, runInterleaving } from "./liveness-run.ts";

/** Interleavings per batch: a batch reports one fault at most, the next goes on with a seed of its own. */
const batchSize = 500;

/** What is drawn, and how one of it is run. */
export interface Interleavings<T extends { readonly steps: readonly unknown[] }> {
	readonly arbitrary: fc.Arbitrary<T>;
	run(value: T): Promise<InterleavingReport>;
}

export function runCampaign(options: CampaignOptions): Promise<CampaignReport> {
	return runInterleavings({ arbitrary: interleaving, run: runInterleaving }, options);
}

export async function runInterleavings<T extends { readonly steps: readonly unknown[] }>(
	interleavings: Interleavings<T>,
	{ rounds, seed, log }: CampaignOptions,
): Promise<CampaignReport> {
	const started = performance.now();
	const findings: string[] = [];
	const unhandled: string[] = [];
	const tally = new Map<string, number>();
	const onUnhandled = (reason: unknown): void => void unhandled.push(String(reason));
	process.on("unhandledRejection", onUnhandled);
	let done = 0;
	try {
		for (let batch = 0; done < rounds; batch += 1) {
			const size = Math.min(batchSize, rounds - done);
			const finding = await runBatch(interleavings, seed + batch, size, tally);
			if (finding !== null) findings.push(finding);
			for (const reason of unhandled.splice(0)) findings.push(`seed ${seed + batch}: unhandled rejection: ${reason}`);
			done += size;
			log(`${done} interleavings, ${findings.length} findings`);
		}
	} finally {
		process.off("unhandledRejection", onUnhandled);
	}
	const seconds = (performance.now() - started) / 1000;
	const counts = [...tally].sort(([one], [other]) => (one < other ? -1 : 1));
	const figures = { "interleavings per second": Math.round(done / seconds), ...Object.fromEntries(counts) };
	return { kind: "liveness", rounds, seed, seconds, findings, figures };
}

/** The smallest counterexample of a batch as a readable transcript; null when there is none. */
async function runBatch<T extends { readonly steps: readonly unknown[] }>(
	interleavings: Interleavings<T>,
	seed: number,
	size: number,
	tally: Map<string, number>,
): Promise<string | null> {
	const property = fc.asyncProperty(interleavings.arbitrary, async (value) => {
		const { faults, tally: counts } = await interleavings.run(value);
		for (const [name, times] of counts) tally.set(name, (tally.get(name) ?? 0) + times);
		return faults.length === 0;
	});
	const result = await fc.check(property, { seed, numRuns: size });
	if (!result.failed) return null;
	const counterexample = result.counterexample?.[0];
	if (counterexample === undefined) return `seed ${seed}: ${String(result.errorInstance)}`;
	return await explain(interleavings, seed, counterexample, result.errorInstance);
}

async function explain<T extends { readonly steps: readonly unknown[] }>(
	{ run }: Interleavings<T>,
	seed: number,
	value: T,
	thrown: unknown,
): Promise<string> {
	const { steps, ...settings } = value;
	const header = [`seed ${seed}, ${JSON.stringify(settings)}`, ...steps.map((step) => `    ${JSON.stringify(step)}`)];
	try {
		const { faults, transcript } = await run(value);
		const again = faults.length === 0 ? ["it did not fail again", String(thrown)] : [];
		return [...header, ...again, ...transcript].join("\n");
	} catch (error) {
		return [...header, `thrown: ${error instanceof Error ? error.stack : String(error)}`].join("\n");
	}
}
