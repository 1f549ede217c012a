// What all runs print: how far they are, on standard error, and in the end what was measured.
import type { Choice } from "../choice.ts";
import { type Measure, machineFacts, toData, toTable } from "../report.ts";
import { own } from "../targets.ts";

/** Replaces the line that says how far the run is. */
export function showProgress({ json }: Choice, text: string): void {
	if (!json) process.stderr.write(`\r${text}  `);
}

/** What is printed next is over that line. */
export function endProgress({ json }: Choice): void {
	if (!json) process.stderr.write("\r");
}

/** Prints the machine and the measures, as a table, by default one that compares the other programs with ours, or as data. */
export function printMeasures(choice: Choice, measures: readonly Measure[], table = toTable(measures, own)): void {
	const facts = machineFacts();
	if (choice.json) console.log(JSON.stringify({ facts, runs: choice.runs, measures: toData(measures) }, null, 2));
	else console.log(`${Object.values(facts).join(", ")}; medians of ${choice.runs} runs\n\n${table}`);
}
