// Many sessions of one process that all stream at once over stdin and stdout: the package, the one file and the peers, in turns.
import type { Choice } from "../choice.ts";
import { writeBenchFiles } from "../measurements.ts";
import type { Measure } from "../report.ts";
import { measureStreaming } from "../streaming-sessions.ts";
import { createTargets, findOneFile } from "../targets.ts";
import { endProgress, printMeasures, showProgress } from "./printing.ts";

export async function runStreaming(choice: Choice, folder: string): Promise<void> {
	const { workDir } = writeBenchFiles(folder);
	const [own, ...peers] = createTargets(choice, folder);
	const targets = [...(own === undefined ? [] : [own]), ...findOneFile(folder), ...peers];
	const measures: Measure[] = [];
	const columns = choice.loads.map((load) => {
		const place = `${load.sessions.toLocaleString("en-US")} sessions at ${load.rate} deltas/s`;
		const add = (what: string, unit: Measure["unit"]) => {
			const values = new Map<string, number[]>(targets.map(({ name }) => [name, []]));
			measures.push({ name: `${place}: ${what}`, unit, values });
			return (name: string, value: number) => values.get(name)?.push(value);
		};
		return {
			load,
			median: add("delta to line, median", "ms"),
			p99: add("99 of 100 within", "ms"),
			cost: add("processor time for each delta", "µs"),
			late: add("provider late, 99 of 100 within", "ms"),
			peak: add("peak memory", "MB"),
		};
	});
	const faults: string[] = [];
	for (let round = 1; round <= choice.runs; round += 1) {
		for (const { load, median, p99, cost, late, peak } of columns) {
			for (const target of targets) {
				showProgress(choice, `run ${round} of ${choice.runs}, ${load.name}, ${target.name}`);
				const measured = await measureStreaming(target, workDir, load);
				median(target.name, measured.median);
				p99(target.name, measured.p99);
				if (measured.cost !== null) cost(target.name, measured.cost);
				late(target.name, measured.late);
				if (measured.peak !== null) peak(target.name, measured.peak / 1_000_000);
				faults.push(...measured.faults.map((fault) => `${target.name}, ${load.name}: ${fault}`));
			}
		}
	}
	endProgress(choice);
	printMeasures(choice, measures);
	if (faults.length === 0) return;
	process.stderr.write(`Lost, twice or not in order:\n${faults.slice(0, 20).join("\n")}\n`);
	process.exitCode = 1;
}
