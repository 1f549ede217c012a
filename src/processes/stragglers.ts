// Finds and kills processes that left their group (setsid, double fork), by the marker in their environment.
// Works where /proc shows environments (Linux); elsewhere nothing is found. A child that cleared its environment is missed.
import { readdirSync, readFileSync } from "node:fs";
import { type Clock, sleep } from "../base/clock.ts";

/** The variable every child gets. Its value names this run and, before it, the runs that this process is itself part of. */
export const markerVariable = "AGENTWIRE_RUN";

/** Environments read between two turns of the event loop: one takes some ten microseconds. */
const batchSize = 200;
const roundLimit = 20;
const roundPause = 10;

/** The marker's value for a child: nested runs keep the outer markers, so that an outer sweep finds them as well. */
export function markerValue(inherited: string | undefined, marker: string): string {
	return inherited === undefined || inherited === "" ? marker : `${inherited}:${marker}`;
}

function processIds(): number[] {
	try {
		return readdirSync("/proc")
			.filter((name) => /^\d+$/.test(name))
			.map(Number);
	} catch {
		return [];
	}
}

function carriesMarker(processId: number, marker: string): boolean {
	try {
		const environment = readFileSync(`/proc/${processId}/environ`, "latin1");
		return environment.includes(marker) && environment.includes(`${markerVariable}=`);
	} catch {
		// Gone meanwhile, or of another user.
		return false;
	}
}

/** The ids of the living processes that carry the marker. */
export async function findStragglers(marker: string): Promise<number[]> {
	const candidates = processIds().filter((processId) => processId !== process.pid);
	const found: number[] = [];
	for (let start = 0; start < candidates.length; start += batchSize) {
		if (start > 0) await new Promise((resolve) => setImmediate(resolve));
		found.push(...candidates.slice(start, start + batchSize).filter((processId) => carriesMarker(processId, marker)));
	}
	return found;
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
