// Linux only. A scan may be long, so it yields, and concurrent callers share the next one.
import { readdirSync, readFileSync } from "node:fs";
import { createPace } from "../../base/pace.ts";
import { createSharedRun } from "../../base/shared-run.ts";

/** Scans are short, but consecutive scans yield as one. */
export const scanPace = createPace();

export function processIds(): number[] | null {
	try {
		return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
	} catch {
		return null;
	}
}

function livingGroupOf(processId: number): number | null {
	try {
		// The program name in parentheses may contain anything; the fields follow it.
		const status = readFileSync(`/proc/${processId}/stat`, "latin1");
		const [state, , group] = status.slice(status.lastIndexOf(")") + 2).split(" ");
		return state === "Z" || state === "X" ? null : Number(group);
	} catch {
		return null;
	}
}

/** Whether a process exists and is not a zombie. Needs /proc. */
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

/** Null without /proc. An orphaned zombie keeps its group signalable until reaped. */
export async function livingMembers(groupId: number): Promise<number | null> {
	const counts = await countLiving();
	return counts === null ? null : (counts.get(groupId) ?? 0);
}
