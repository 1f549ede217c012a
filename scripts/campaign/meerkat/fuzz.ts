// The fuzz campaign for Meerkat RPC: lines of every kind, whole and in pieces, in memory and to `agentwire rpc`.
import { systemClock } from "../../../src/base/clock.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import { nextTurn } from "../../../test/support/campaign-server.ts";
import { createGatedProvider } from "../../../test/support/gated-provider.ts";
import { createHostedServer } from "../../../test/support/hosted-server.ts";
import { createMemoryFiles } from "../../../test/support/memory-files.ts";
import type { CampaignOptions, CampaignReport } from "../campaign.ts";
import { type FuzzLine, largeLine } from "../fuzz/fuzz-lines.ts";
import { type FuzzPart, type FuzzTally, runFuzzParts } from "../fuzz/fuzz-parts.ts";
import { show } from "../fuzz/fuzz-run.ts";
import { type LineTarget, openProcess } from "../fuzz/fuzz-target.ts";
import type { Random } from "../random.ts";
import { meerkatLine } from "./fuzz-lines.ts";
import { MeerkatFuzz } from "./fuzz-run.ts";

type Part = FuzzPart<LineTarget>;

interface Tally extends FuzzTally {
	readonly outcomes: Map<string, number>;
	events: number;
}

const batchSize = 100;
/** Longest time for the responses to a batch of ordinary lines, in milliseconds. */
const responseLimit = 2000;
/** Places for every session that a batch can use at once: idle ones still have to give way. */
const agentwire = { limits: { loaded_sessions: batchSize + 1, running_turns: 1000 } };

export function runCampaign(options: CampaignOptions): Promise<CampaignReport> {
	return runFuzzParts<LineTarget, Tally>(options, {
		openMemory,
		openProcess: () => openProcess(["rpc"], agentwire),
		newTally: () => ({ lines: 0, outcomes: new Map(), events: 0, slowest: 0, seconds: 0, findings: [] }),
		runConnection,
		runLarge,
		runOversized,
		counts: ({ outcomes, events }) => ({
			...Object.fromEntries([...outcomes].map(([outcome, count]) => [`answered with ${outcome}`, count])),
			events,
		}),
	});
}

async function openMemory(): Promise<LineTarget> {
	const files = createMemoryFiles();
	const { fetch } = createGatedProvider(true);
	const server = await createHostedServer({ files, store: createMemoryStore(), clock: systemClock, fetch, agentwire });
	return {
		patience: 5000,
		write: async (bytes) => server.client.write(bytes),
		read: () => server.client.read(),
		async rest() {
			for (let turn = 0; turn < 3; turn += 1) await nextTurn();
		},
		async close() {
			server.client.end();
			await server.serving.ended;
			await server.serving.finish();
			await server.close();
			return (await server.client.read()) === null ? [] : ["something is told behind the end"];
		},
	};
}

async function runConnection(part: Part, random: Random, tally: Tally): Promise<void> {
	const target = await part.open();
	const fuzz = new MeerkatFuzz(target);
	const end = tally.lines + Math.min(part.linesPerConnection, part.rounds - tally.lines);
	let isSpoilt = false;
	for (let count = 1; tally.lines < end && !isSpoilt; count += batchSize) {
		const ids = fuzz.sessions().slice(0, 12);
		const lines = Array.from({ length: batchSize }, (_, index) => meerkatLine(random, ids, count + index));
		const isSlow = random.chance(10);
		const report = await fuzz.runBatch(lines, isSlow ? random : null);
		tally.lines += report.lines;
		for (const outcome of report.outcomes) tally.outcomes.set(outcome, (tally.outcomes.get(outcome) ?? 0) + 1);
		tally.events += report.events;
		tally.slowest = Math.max(tally.slowest, report.took);
		const findings = [...report.findings];
		if (report.took > responseLimit) findings.push(`the responses took ${Math.round(report.took)} ms`);
		isSpoilt = findings.length > 0;
		if (isSpoilt) tally.findings.push(...(await explain(part, lines, findings)));
	}
	const ends = isSpoilt ? [] : await fuzz.runOnceMore();
	const faults = await target.close();
	tally.findings.push(...[...ends, ...(isSpoilt ? [] : faults)].map((finding) => `${part.name}: ${finding}`));
}

/** The lines that alone bring a difference about; all of them when none does. */
async function explain(
	part: Part,
	lines: readonly FuzzLine[],
	findings: readonly string[],
): Promise<readonly string[]> {
	const culprits: string[] = [];
	for (const line of lines) {
		const target = await part.open();
		const report = await new MeerkatFuzz(target).runBatch([line], null);
		if (report.findings.length > 0) culprits.push(`${part.name}: ${show(line.bytes)}: ${report.findings.join(", ")}`);
		await target.close();
		if (culprits.length >= 3) return culprits;
	}
	if (culprits.length > 0) return culprits;
	const texts = lines.map(({ bytes }) => bytes.toString("latin1").slice(0, 200)).join("\n    ");
	return [`${part.name}: ${findings.join(", ")}; the lines only together:\n    ${texts}`];
}

async function runLarge(part: Part, random: Random, tally: Tally): Promise<void> {
	const target = await part.open();
	const fuzz = new MeerkatFuzz(target);
	const line = random.chance(50) ? largeLine(random) : largePrompt();
	const { findings } = await fuzz.runBatch([line], null);
	tally.lines += 1;
	const ends = findings.length > 0 ? [] : await fuzz.runOnceMore();
	const faults = await target.close();
	const name = `${part.name}, ${line.bytes.length} bytes`;
	tally.findings.push(...[...findings, ...ends, ...faults].map((finding) => `${name}: ${finding}`));
}

/** Three million bytes that are taken. */
function largePrompt(): FuzzLine {
	const params = { prompt: "é\u2028".repeat(600_000), initial_turn: "deferred" };
	const text = JSON.stringify({ jsonrpc: "2.0", id: "large", method: "session/create", params });
	return { bytes: Buffer.from(text), isJson: true };
}

/** One byte more than a line may have: a parse error, and the connection goes on. */
async function runOversized(log: (line: string) => void): Promise<readonly string[]> {
	const target = await openProcess(["rpc"], agentwire);
	const fuzz = new MeerkatFuzz(target);
	for (let piece = 0; piece < 100; piece += 1) await target.write(Buffer.alloc(1_048_576, "x"));
	// The last byte makes the line too long; for the oracle it is a line that is no JSON.
	const { findings, took } = await fuzz.runBatch([{ bytes: Buffer.from("x"), isJson: false }], null);
	log(`100 MiB and one byte: ${Math.round(took)} ms`);
	const ends = findings.length > 0 ? [] : await fuzz.runOnceMore();
	return [...findings, ...ends, ...(await target.close())].map((finding) => `100 MiB and one byte: ${finding}`);
}
