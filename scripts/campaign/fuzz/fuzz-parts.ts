// The frame of a fuzz campaign, whatever is spoken: a part in memory and a smaller one to the process, each a number of
// lines over connections that follow one another, then lines that are large, and one that is too large.
import type { CampaignOptions, CampaignReport } from "../campaign.ts";
import { createRandom, type Random } from "../random.ts";

/** One part; `Target` is what a connection is made to. */
export interface FuzzPart<Target> {
	readonly name: string;
	readonly open: () => Promise<Target>;
	readonly rounds: number;
	/** Lines of one connection before the next is opened. */
	readonly linesPerConnection: number;
	readonly largeLines: number;
}

/** What every part counts. */
export interface FuzzTally {
	lines: number;
	/** Milliseconds. */
	slowest: number;
	seconds: number;
	findings: string[];
}

export interface FuzzCampaign<Target, Tally extends FuzzTally> {
	openMemory(): Promise<Target>;
	openProcess(): Promise<Target>;
	newTally(): Tally;
	/** Lines over one connection, from its opening to its end. */
	runConnection(part: FuzzPart<Target>, random: Random, tally: Tally): Promise<void>;
	/** One large line over a connection of its own. */
	runLarge(part: FuzzPart<Target>, random: Random, tally: Tally): Promise<void>;
	/** A line of more bytes than are taken; what was wrong. */
	runOversized(log: (line: string) => void): Promise<readonly string[]>;
	/** What is counted besides lines, by name. */
	counts(tally: Tally): Readonly<Record<string, number>>;
}

/** More is not worth reading. */
const findingLimit = 20;

export async function runFuzzParts<Target, Tally extends FuzzTally>(
	{ rounds, seed, log, ...options }: CampaignOptions,
	campaign: FuzzCampaign<Target, Tally>,
): Promise<CampaignReport> {
	const processRounds = options.processRounds ?? Math.ceil(rounds / 50);
	const inMemory = { name: "memory", open: campaign.openMemory, rounds, linesPerConnection: 2000 };
	const toProcess = { name: "process", open: campaign.openProcess, rounds: processRounds, linesPerConnection: 500 };
	const started = performance.now();
	const unhandled: string[] = [];
	const onUnhandled = (reason: unknown): void => void unhandled.push(`unhandled rejection: ${String(reason)}`);
	process.on("unhandledRejection", onUnhandled);
	try {
		const random = createRandom(seed);
		const run = (part: FuzzPart<Target>) => runPart(part, campaign, random, log);
		const memory = await run({ ...inMemory, largeLines: Math.min(12, rounds / 5000) });
		const real = await run({ ...toProcess, largeLines: Math.min(6, processRounds / 50) });
		const oversized = processRounds > 0 ? await campaign.runOversized(log) : [];
		return {
			kind: "fuzz",
			rounds,
			seed,
			seconds: (performance.now() - started) / 1000,
			findings: [...memory.findings, ...real.findings, ...oversized, ...unhandled],
			figures: {
				...figures("memory", memory, campaign.counts(memory)),
				...figures("process", real, campaign.counts(real)),
			},
		};
	} finally {
		process.off("unhandledRejection", onUnhandled);
	}
}

async function runPart<Target, Tally extends FuzzTally>(
	part: FuzzPart<Target>,
	{ newTally, runConnection, runLarge }: FuzzCampaign<Target, Tally>,
	random: Random,
	log: (line: string) => void,
): Promise<Tally> {
	const tally = newTally();
	const started = performance.now();
	let nextLog = 0;
	while (tally.lines < part.rounds && tally.findings.length < findingLimit) {
		await runConnection(part, random, tally);
		if (tally.lines >= nextLog) {
			log(`${part.name}: ${tally.lines} lines, ${tally.findings.length} findings`);
			nextLog = tally.lines + part.rounds / 10;
		}
	}
	for (let large = 0; large < Math.floor(part.largeLines); large += 1) await runLarge(part, random, tally);
	tally.seconds = (performance.now() - started) / 1000;
	return tally;
}

function figures(
	name: string,
	{ lines, slowest, seconds }: FuzzTally,
	counts: Readonly<Record<string, number>>,
): Record<string, number> {
	return {
		[`${name}: lines`]: lines,
		...Object.fromEntries(Object.entries(counts).map(([what, count]) => [`${name}: ${what}`, count])),
		[`${name}: lines per second`]: Math.round(lines / Math.max(seconds, 0.001)),
		[`${name}: slowest batch in ms`]: Math.round(slowest),
	};
}
