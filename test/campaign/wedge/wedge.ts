// The wedge campaign: hostile texts of up to a megabyte in every tool and at every place that takes text from outside, each in
// a real process while its heart beats. Nothing holds the event loop, takes much memory, goes unanswered or ends the process.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type CampaignOptions, type CampaignReport, reportOn } from "../frame/campaign.ts";
import { createRandom, type Random } from "../random.ts";
import type { Case } from "./case.ts";
import { wedgeCases } from "./cases.ts";
import { type Control, judge, toMegabytes } from "./judge.ts";
import { brief } from "./life.ts";
import { type Measured, playRound, type RoundOptions } from "./round.ts";

/** The most that a case is made of; the first pass through all cases has them at this size. */
const largest = 1_000_000;
const smallest = 1000;
/** How often a case is repeated, alone, before a late answer counts: the machine has other work. */
const tries = 3;

interface Row {
	readonly tried: Case;
	readonly size: number;
	readonly measured: Measured;
	readonly faults: readonly string[];
	readonly times: number;
}

const idle: Case = {
	area: "nothing",
	name: "an ordinary turn",
	reached: /"text":"done"/,
	set: () => ({}),
};

/** The order in which the cases are tried: all of them, shuffled, and then again in other sizes. */
function* choose(cases: readonly Case[], random: Random): Generator<{ readonly tried: Case; readonly size: number }> {
	for (let pass = 0; cases.length > 0; pass += 1) {
		const left = [...cases];
		while (left.length > 0) {
			const [tried] = left.splice(random.below(left.length), 1);
			const size = pass === 0 ? largest : Math.round(smallest * (largest / smallest) ** (random.below(1000) / 1000));
			if (tried !== undefined) yield { tried, size };
		}
	}
}

async function tryCase(tried: Case, options: RoundOptions, control: Control): Promise<Row> {
	let best: Row | null = null;
	for (let times = 1; times <= tries; times += 1) {
		const measured = await playRound(tried, options);
		const { late, wrong } = judge(tried, measured, control);
		const row: Row = { tried, size: options.size, measured, faults: [...wrong, ...late], times };
		if (best === null || late.length < best.faults.length || row.faults.length === 0) best = row;
		if (late.length === 0 || wrong.length > 0) return row;
	}
	if (best === null) throw new Error("nothing was tried");
	return best;
}

function toLine({ tried, size, measured, faults, times }: Row): string {
	const { beats, peak, end } = measured;
	return [
		`${tried.area}: ${tried.name}`.padEnd(64),
		String(size).padStart(8),
		`${beats.slowest.toFixed(0)} ms`.padStart(8),
		`${toMegabytes(peak)} MB`.padStart(7),
		(end === null ? "-" : `${end.toFixed(0)} ms`).padStart(8),
		faults.length === 0 ? "  " : "✗ ",
		times > 1 ? `(try ${times}) ` : "",
		brief(measured.outcome, 110),
	].join(" ");
}

const head = `${"case".padEnd(64)} ${"size".padStart(8)} ${"beat".padStart(8)} ${"memory".padStart(7)} ${"end".padStart(8)}    outcome`;

/**
 * Plays `rounds` rounds, one after the other, of the cases whose name has `only` in it; 0 for each of them once. Linux only:
 * it reads /proc.
 */
export function runCampaign(options: CampaignOptions): Promise<CampaignReport> {
	return reportOn("wedge", options.seed, () => playRounds(options));
}

async function playRounds({ rounds, seed, log, only = "" }: CampaignOptions) {
	const cacheDir = mkdtempSync(path.join(tmpdir(), "agentwire-wedge-cache-"));
	const random = createRandom(seed);
	const rows: Row[] = [];
	try {
		// The first start compiles, and is no measure.
		await playRound(idle, { size: 0, seed, cacheDir });
		const control = await playRound(idle, { size: 0, seed, cacheDir });
		log(head);
		log(toLine({ tried: idle, size: 0, measured: control, faults: [], times: 1 }));
		const cases = wedgeCases.filter(({ area, name }) => `${area}: ${name}`.includes(only));
		if (cases.length === 0) throw new Error(`No case has "${only}" in its name.`);
		for (const { tried, size } of choose(cases, random)) {
			if (rows.length >= (rounds === 0 ? cases.length : rounds)) break;
			const row = await tryCase(tried, { size, seed: seed + rows.length, cacheDir }, control);
			rows.push(row);
			log(toLine(row));
		}
		return {
			rounds: rows.length,
			findings: rows.flatMap(({ tried, size, faults }) =>
				faults.map((fault) => `${tried.area}: ${tried.name} (${size}): ${fault}`),
			),
			figures: toFigures(rows, control, cases.length),
		};
	} finally {
		rmSync(cacheDir, { recursive: true, force: true, maxRetries: 5 });
	}
}

function toFigures(rows: readonly Row[], control: Measured, cases: number): Record<string, string> {
	const most = (value: (row: Row) => number) => rows.reduce((most, row) => Math.max(most, value(row)), 0);
	return {
		cases: String(cases),
		"beats answered": String(rows.reduce((sum, { measured }) => sum + measured.beats.count, 0)),
		"slowest beat": `${most(({ measured }) => measured.beats.slowest).toFixed(0)} ms`,
		"slowest beat of an ordinary turn": `${control.beats.slowest.toFixed(0)} ms, by the clock ${control.beats.slowestByClock.toFixed(0)} ms`,
		"slowest beat by the clock": `${most(({ measured }) => measured.beats.slowestByClock).toFixed(0)} ms`,
		"most memory": `${toMegabytes(most(({ measured }) => measured.peak))} MB, of an ordinary turn ${toMegabytes(control.peak)} MB`,
		"slowest end": `${most(({ measured }) => measured.end ?? 0).toFixed(0)} ms`,
	};
}
