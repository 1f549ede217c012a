// Finds and kills processes that left their group (setsid, double fork), by the marker in their environment.
// Works where /proc shows environments (Linux); elsewhere nothing is found. A child that cleared its environment is missed.
import { readdirSync, readFileSync } from "node:fs";
import { type Clock, sleep } from "../base/clock.ts";

/** The variable every child gets. Its value names this run and, before it, the runs that this process is itself part of. */
export const markerVariable = "AGENTWIRE_RUN";

/** Environments read between two turns of the event loop: one takes some ten microseconds. */
const batchSize = 200;
/** Looks of one search: others may start processes all the time. */
const lookLimit = 5;
const roundLimit = 20;
const roundPause = 10;

/** The marker's value for a child: nested runs keep the outer markers, so that an outer sweep finds them as well. */
export function markerValue(inherited: string | undefined, marker: string): string {
	return inherited === undefined || inherited === "" ? marker : `${inherited}:${marker}`;
}

/** The processes of the machine. */
export interface ProcessTable {
	ids(): number[];
	/** The environment of a process; empty while it is being executed, when it is gone or another user's. */
	environment(processId: number): string;
}

const procFiles: ProcessTable = {
	ids() {
		try {
			return readdirSync("/proc")
				.filter((name) => /^\d+$/.test(name))
				.map(Number);
		} catch {
			return [];
		}
	},
	environment(processId) {
		try {
			return readFileSync(`/proc/${processId}/environ`, "latin1");
		} catch {
			return "";
		}
	},
};

/**
 * The ids of the living processes that carry the marker. One look may miss a process that was forked after the list was
 * taken by one that was gone when it was read, or that was just being executed: it looks again until nothing is new.
 */
export async function findStragglers(marker: string, table: ProcessTable = procFiles): Promise<number[]> {
	const environments = new Map<number, string>();
	for (let look = 0; look < lookLimit; look += 1) {
		const unread = table.ids().filter((processId) => processId !== process.pid && !environments.get(processId));
		const isSettled = unread.every((processId) => environments.has(processId));
		for (const [index, processId] of unread.entries()) {
			if (index > 0 && index % batchSize === 0) await new Promise((resolve) => setImmediate(resolve));
			environments.set(processId, table.environment(processId));
		}
		if (look > 0 && isSettled) break;
	}
	return [...environments].flatMap(([processId, environment]) => (carries(environment, marker) ? [processId] : []));
}

function carries(environment: string, marker: string): boolean {
	return environment.includes(marker) && environment.includes(`${markerVariable}=`);
}

/**
 * Kills every process that carries the marker, again until none is left (they may fork meanwhile).
 * Returns the ids that would not die.
 */
export async function sweepStragglers(marker: string, clock: Clock): Promise<readonly number[]> {
	let found: number[] = [];
	for (let round = 0; round < roundLimit; round += 1) {
		found = await findStragglers(marker);
		if (found.length === 0) return [];
		for (const processId of found) {
			try {
				process.kill(processId, "SIGKILL");
			} catch {
				// It went by itself.
			}
		}
		await sleep(clock, roundPause, new AbortController().signal);
	}
	return found;
}
