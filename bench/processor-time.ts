// Processor time of processes and of the whole machine, as Linux counts it; null on other systems.
import { readFileSync } from "node:fs";

/** Linux counts in hundredths of a second, whatever its own clock is. */
const ticksPerSecond = 100;

/** Seconds of one core that a process has taken. */
export function processorTime({ pid }: { readonly pid?: number | undefined }): number | null {
	if (process.platform !== "linux" || pid === undefined) return null;
	// The name of the program, in parentheses, may have blanks.
	const [, , , , , , , , , , , , user, system] = readFileSync(`/proc/${pid}/stat`, "utf8")
		.replace(/^.*\) /s, "_ ")
		.split(" ");
	return (Number(user) + Number(system)) / ticksPerSecond;
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
