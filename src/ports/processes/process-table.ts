// Reads the processes of the machine from /proc (Linux; elsewhere nothing is known). Reading one process takes about
// ten microseconds, and there may be thousands: a scan yields to other work, and concurrent callers share the next
// scan.
import { readdirSync, readFileSync } from "node:fs";
import { createPace } from "../../base/pace.ts";
import { createSharedRun } from "../../base/shared-run.ts";

/** Scans are short, but many may follow each other: they yield to other work as one. */
export const scanPace = createPace();

/** The ids of all processes; null where there is no /proc. */
export function processIds(): number[] | null {
	try {
		return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
	} catch {
		return null;
	}
}

/** The group of a process; null when it is gone or a zombie. */
function livingGroupOf(processId: number): number | null {
	try {
		// The name of the program, in parentheses, may contain anything; the fields come after it.
		const status = readFileSync(`/proc/${processId}/stat`, "latin1");
		const [state, , group] = status.slice(status.lastIndexOf(")") + 2).split(" ");
		return state === "Z" || state === "X" ? null : Number(group);
	} catch {
		return null;
	}
}

/** Whether a process exists and is no zombie. Needs /proc. */
export function isLiving(processId: number): boolean {
	return livingGroupOf(processId) !== null;
}

const countLiving = createSharedRun(async (): Promise<ReadonlyMap<number, number> | null> => {
	const ids = processIds();
	if (ids?.includes(process.pid) !== true) return null;
	const counts = new Map<number, number>();
	for (const id of ids) {
		const group = livingGroupOf(id);
		if (group !== null) counts.set(group, (counts.get(group) ?? 0) + 1);
		await scanPace.rest();
	}
	return counts;
});

/**
 * How many members of the group are no zombies; null where there is no /proc. An orphaned zombie keeps its group signallable
 * until someone reaps it, which in a container may be never.
 */
export async function livingMembers(groupId: number): Promise<number | null> {
	const counts = await countLiving();
	return counts === null ? null : (counts.get(groupId) ?? 0);
}
