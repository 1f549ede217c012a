// The time from a provider's delta to its event, for each provider type.
import type { Choice } from "../choice.ts";
import { measureDeltas } from "../delta-latency.ts";
import { writeBenchFiles } from "../measurements.ts";
import type { Measure } from "../report.ts";
import { createTargets } from "../targets.ts";
import { endProgress, printMeasures, showProgress } from "./printing.ts";

export async function runProviders(choice: Choice, folder: string): Promise<void> {
	const { workDir } = writeBenchFiles(folder);
	const targets = createTargets(choice, folder);
	const columns = new Map<string, Map<string, number[]>>();
	for (let round = 1; round <= choice.runs; round += 1) {
		showProgress(choice, `run ${round} of ${choice.runs}`);
		for (const target of targets) {
			for (const [type, value] of await measureDeltas(target, workDir)) {
				const column = columns.get(type) ?? new Map<string, number[]>();
				columns.set(type, column);
				column.set(target.name, [...(column.get(target.name) ?? []), value]);
			}
		}
	}
	endProgress(choice);
	const measures = [...columns].map(
		([type, values]): Measure => ({ name: `delta to event, ${type}`, unit: "µs", values: inMicroseconds(values) }),
	);
	printMeasures(choice, measures);
}

function inMicroseconds(values: ReadonlyMap<string, readonly number[]>): Map<string, readonly number[]> {
	return new Map([...values].map(([name, times]) => [name, times.map((time) => time * 1000)]));
}
