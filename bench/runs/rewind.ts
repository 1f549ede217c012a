// What recording the changes of files adds to a command.
import type { Choice } from "../choice.ts";
import type { Measure } from "../report.ts";
import { createRewindStage } from "../rewind.ts";
import { own } from "../targets.ts";
import { endProgress, printMeasures, showProgress } from "./printing.ts";

const sizes = [1_000, 10_000, 100_000];
const floor = "one look at all metadata";

export async function runRewind(choice: Choice, folder: string): Promise<void> {
	const measures: Measure[] = [];
	for (const size of sizes) {
		showProgress(choice, `making ${size} files`);
		const { first, measure } = await createRewindStage(folder, size);
		const named = { unchanged: "a command that changes nothing", changed: "a command that changes a file" } as const;
		const times = { unchanged: [] as number[], changed: [] as number[], plain: [] as number[] };
		for (let round = 1; round <= choice.runs; round += 1) {
			showProgress(choice, `run ${round} of ${choice.runs} over ${size} files`);
			const { unchanged, changed, plain } = await measure();
			times.unchanged.push(unchanged);
			times.changed.push(changed);
			times.plain.push(plain);
		}
		const files = `${size.toLocaleString("en-US")} files`;
		measures.push({ name: `${files}: the first comparison`, unit: "ms", values: new Map([[own, [first]]]) });
		for (const key of ["unchanged", "changed"] as const) {
			const values = new Map([
				[own, times[key]],
				[floor, times.plain],
			]);
			measures.push({ name: `${files}: ${named[key]}`, unit: "ms", values });
		}
	}
	endProgress(choice);
	printMeasures(choice, measures);
}
