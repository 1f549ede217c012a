// What is wrong with a round, by what was measured: the oracle of the wedge campaign.
import { type Case, megabyte, standardLimits } from "./case.ts";
import type { Measured } from "./round.ts";

/** What an idle process of this machine needs to begin, in milliseconds. */
export interface Control {
	readonly begun: number;
}

export interface Judgement {
	/** What other work of the machine may have to do with: worth another look. */
	readonly late: readonly string[];
	readonly wrong: readonly string[];
}

export function judge({ reached, limits }: Case, measured: Measured, control: Control): Judgement {
	const { beat, memory, end } = { ...standardLimits, ...limits };
	const { beats, peak, outcome, complaints, exitCode, isStart } = measured;
	const late: string[] = [];
	const wrong: string[] = [...complaints];
	if (beats.slowest > beat) late.push(`a beat took ${beats.slowest.toFixed(0)} ms, more than ${beat}`);
	const longer = measured.begun - control.begun;
	if (isStart && longer > beat)
		late.push(`the start took ${longer.toFixed(0)} ms longer than usual, more than ${beat}`);
	if (peak > memory) late.push(`${toMegabytes(peak)} MB of memory, more than ${toMegabytes(memory)}`);
	if (measured.end !== null) {
		if (measured.end > end) late.push(`the end took ${measured.end.toFixed(0)} ms, more than ${end}`);
		if (exitCode !== 0) wrong.push(`exit code ${exitCode}`);
	}
	if (!reached.test(outcome)) wrong.push(`the outcome has no ${String(reached)}: ${outcome}`);
	return { late, wrong };
}

export function toMegabytes(bytes: number): string {
	return (bytes / megabyte).toFixed(0);
}
