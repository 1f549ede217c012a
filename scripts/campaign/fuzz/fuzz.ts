// The fuzz campaign: lines of every kind against both dialects and the undecided state, in memory and over the process.
import type { CampaignOptions, CampaignReport } from "../campaign.ts";
import type { Random } from "../random.ts";
import { type FuzzLine, fuzzLine, largeLine } from "./fuzz-lines.ts";
import type { OracleState } from "./fuzz-oracle.ts";
import { type FuzzPart, type FuzzTally, runFuzzParts } from "./fuzz-parts.ts";
import { FuzzSession, narrowDown, openingOf } from "./fuzz-run.ts";
import { type FuzzTarget, openMemoryTarget, openProcessTarget } from "./fuzz-target.ts";

type Part = FuzzPart<FuzzTarget>;

interface Tally extends FuzzTally {
	replies: number;
	answered: number;
}

const batchSize = 100;
const dialects: readonly [OracleState["dialect"], ...OracleState["dialect"][]] = [
	"kimi",
	"kimi",
	"legacy",
	"undecided",
];

export function runCampaign(options: CampaignOptions): Promise<CampaignReport> {
	return runFuzzParts<FuzzTarget, Tally>(options, {
		openMemory: openMemoryTarget,
		openProcess: openProcessTarget,
		newTally: () => ({ lines: 0, replies: 0, answered: 0, slowest: 0, seconds: 0, findings: [] }),
		runConnection: (part, random, tally) => runConnection(part, random.pick(dialects), random, tally),
		runLarge: (part, random, tally) => runAlone(part, largeLine(random), random.pick(dialects), tally),
		runOversized,
		counts: ({ replies, answered }) => ({ replies, "questions and hooks answered": answered }),
	});
}

async function runConnection(part: Part, dialect: OracleState["dialect"], random: Random, tally: Tally): Promise<void> {
	const target = await part.open();
	const session = new FuzzSession(target);
	const opening = openingOf(dialect);
	if (opening !== null) await session.runBatch(() => opening, 1);
	const end = tally.lines + Math.min(part.linesPerConnection, part.rounds - tally.lines);
	let isSpoilt = false;
	while (tally.lines < end && !isSpoilt) {
		const lines: FuzzLine[] = [];
		const before = session.dialect;
		const report = await session.runBatch(() => {
			const line = fuzzLine(random);
			lines.push(line);
			return line;
		}, batchSize);
		tally.lines += report.lines;
		tally.replies += report.replies;
		tally.slowest = Math.max(tally.slowest, report.took);
		isSpoilt = report.isSpoilt;
		if (report.findings.length > 0) tally.findings.push(...(await explain(part, lines, before, report.findings)));
		if (!isSpoilt) {
			const late = await session.release();
			tally.findings.push(...late.map((finding) => `${part.name}, ${dialect}, at the end of a turn: ${finding}`));
			isSpoilt = late.length > 0;
		}
		if (dialect === "undecided" && session.dialect !== "undecided" && random.chance(20)) break;
	}
	const ends = isSpoilt ? [] : await session.promptOnceMore();
	const faults = await target.close();
	tally.answered += session.answered;
	if (isSpoilt) return;
	tally.findings.push(...[...ends, ...faults].map((finding) => `${part.name}, ${dialect}: ${finding}`));
}

async function explain(
	part: Part,
	lines: readonly FuzzLine[],
	dialect: OracleState["dialect"],
	findings: readonly string[],
): Promise<readonly string[]> {
	const culprits = await narrowDown(part.open, lines, dialect);
	if (culprits.length > 0) return culprits.map((culprit) => `${part.name}, ${culprit}`);
	const texts = lines.map(({ bytes }) => bytes.toString("latin1").slice(0, 200)).join("\n    ");
	return [`${part.name}, ${dialect}: ${findings.join(", ")}; the lines only together:\n    ${texts}`];
}

async function runAlone(part: Part, line: FuzzLine, dialect: OracleState["dialect"], tally: Tally): Promise<void> {
	const target = await part.open();
	const session = new FuzzSession(target);
	const opening = openingOf(dialect);
	if (opening !== null) await session.runBatch(() => opening, 1);
	const { findings, took, isSpoilt } = await session.runBatch(() => line, 1);
	tally.lines += 1;
	const name = `${part.name}, ${dialect}, ${line.bytes.length} bytes`;
	tally.findings.push(...findings.map((finding) => `${name}: ${finding}`));
	if (took > 1000) tally.findings.push(`${name}: took ${Math.round(took)} ms`);
	if (!isSpoilt) tally.findings.push(...(await session.release()), ...(await session.promptOnceMore()));
	await target.close();
}

/** One byte more than a line may have, in each dialect: refused or passed over, and the connection goes on. */
async function runOversized(log: (line: string) => void): Promise<readonly string[]> {
	const findings: string[] = [];
	for (const dialect of ["kimi", "legacy"] as const) {
		const target = await openProcessTarget();
		const session = new FuzzSession(target);
		const opening = openingOf(dialect);
		if (opening !== null) await session.runBatch(() => opening, 1);
		const pieces = Array.from({ length: 100 }, () => Buffer.alloc(1_048_576, "x"));
		for (const piece of pieces) await target.write(piece);
		// The last byte makes the line too long; for the oracle it is a line that is no JSON.
		const { findings: found, took } = await session.runBatch(() => ({ bytes: Buffer.from("x"), isJson: false }), 1);
		findings.push(...found.map((finding) => `100 MiB and one byte, ${dialect}: ${finding}`));
		log(`100 MiB and one byte, ${dialect}: ${Math.round(took)} ms`);
		findings.push(...(await session.promptOnceMore()), ...(await target.close()));
	}
	return findings;
}
