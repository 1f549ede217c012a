// The Agent Client Protocol next to Kimi Wire.
import { mkdirSync } from "node:fs";
import path from "node:path";
import type { Choice } from "../choice.ts";
import { measureEditorText, measureLoad, measureWireText } from "../editors.ts";
import { eventCount, logSize, longLog, manyEvents, writeLongSessions } from "../long-session.ts";
import { writeBenchFiles } from "../measurements.ts";
import type { Measure } from "../report.ts";
import { createTargets } from "../targets.ts";
import { endProgress, printMeasures, showProgress } from "./printing.ts";

/** A measure whose values come one by one. */
function createColumns(name: string, unit: Measure["unit"]) {
	const values = new Map<string, number[]>();
	const add = (column: string, value: number) => void values.set(column, [...(values.get(column) ?? []), value]);
	return { name, unit, values, add };
}

export async function runEditors(choice: Choice, folder: string): Promise<void> {
	const targets = createTargets(choice, folder);
	const setups = targets.map((target) => {
		const place = path.join(folder, `editors ${target.name}`);
		mkdirSync(place);
		const files = writeBenchFiles(place);
		writeLongSessions(target.environment["KIMI_SHARE_DIR"] ?? "", files.workDir);
		return { target, files };
	});
	const events = eventCount.toLocaleString("en");
	const texts = createColumns("start to the first text of an answer, as an editor", "ms");
	const long = createColumns(`\`session/load\` of ${logSize / 1_000_000} MB`, "MB/s");
	const many = createColumns(`the same of ${events} small events`, "MB/s");
	const replayed = createColumns(`the same of ${events} small events, from the first update on`, "MB/s");
	const opening = createColumns("from the request to that first update", "ms");
	// Round 0 fills the caches of disk and compiler.
	for (let round = 0; round <= choice.runs; round += 1) {
		showProgress(choice, `run ${round} of ${choice.runs}`);
		for (const { target, files } of setups) {
			const times = [await measureEditorText(target, files), await measureWireText(target, files)] as const;
			const [whole, small] = [await measureLoad(target, files, longLog), await measureLoad(target, files, manyEvents)];
			if (round === 0) continue;
			texts.add(target.name, times[0]);
			texts.add(`${target.name}, Kimi Wire`, times[1]);
			long.add(target.name, whole.rate);
			many.add(target.name, small.rate);
			replayed.add(target.name, small.replayRate);
			opening.add(target.name, small.opening);
		}
	}
	endProgress(choice);
	printMeasures(choice, [texts, long, many, replayed, opening]);
}
