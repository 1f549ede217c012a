// Processor time of processes and of the whole machine, as Linux counts it; null on other systems.
import { readFileSync } from "node:fs";
import { processTree, readProcess } from "./process-tree.ts";

/** Linux counts in hundredths of a second, whatever its own clock is. */
const ticksPerSecond = 100;

/** Seconds of one core that a process and its descendants have taken. */
export function processorTime({ pid }: { readonly pid?: number | undefined }): number | null {
	if (pid === undefined) return null;
	const times = processTree(pid).flatMap((each) => {
		// The name of the program, in parentheses, may have blanks.
		const fields = readProcess(each, "stat")
			?.replace(/^.*\) /s, "_ ")
			.split(" ");
		return fields === undefined ? [] : [(Number(fields[12]) + Number(fields[13])) / ticksPerSecond];
	});
	return times.length === 0 ? null : times.reduce((sum, time) => sum + time, 0);
}

/** Seconds of all cores in which anything ran. */
export function busyTime(): number | null {
	if (process.platform !== "linux") return null;
	const [user, nice, system, _idle, _waiting, ...interrupts] = (readFileSync("/proc/stat", "utf8").split("\n")[0] ?? "")
		.split(/\s+/)
		.slice(1, 9)
		.map(Number);
	const sum = [user, nice, system, ...interrupts].reduce<number>((total, ticks) => total + (ticks ?? 0), 0);
	return sum / ticksPerSecond;
}
