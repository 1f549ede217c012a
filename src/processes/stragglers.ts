// Finds and kills processes that left their group (setsid, double fork), by the marker in their environment.
// Works where /proc shows environments (Linux); elsewhere nothing is found. A child that cleared its environment is missed.
import { readFileSync } from "node:fs";
import { type Clock, sleep } from "../base/clock.ts";
import { createPace } from "../base/pace.ts";
import { createSharedRun } from "../base/shared-run.ts";
import { processIds } from "./process-table.ts";

/** The variable every child gets. Its value names this run and, before it, the runs that this process is itself part of. */
export const markerVariable = "AGENTWIRE_RUN";

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
	ids: () => processIds() ?? [],
	environment(processId) {
		try {
			return readFileSync(`/proc/${processId}/environ`, "latin1");
		} catch {
			return "";
		}
	},
};

/**
 * The marker's values of the living processes that have one. One look may miss a process that was forked after the list was
 * taken by one that was gone when it was read, or that was just being executed: it looks again until nothing is new.
 */
async function readMarkers(table: ProcessTable): Promise<ReadonlyMap<number, string>> {
	/** Null for what could not be read. */
	const markers = new Map<number, string | null>();
	const pace = createPace();
	for (let look = 0; look < lookLimit; look += 1) {
		const unread = table
			.ids()
			.filter((processId) => processId !== process.pid && (markers.get(processId) ?? null) === null);
		const isSettled = unread.every((processId) => markers.has(processId));
		for (const processId of unread) {
			const environment = table.environment(processId);
			markers.set(processId, environment === "" ? null : markerOf(environment));
			await pace.rest();
		}
		if (look > 0 && isSettled) break;
	}
	return new Map([...markers].flatMap(([processId, marker]) => (marker ? [[processId, marker]] : [])));
}

/** The marker's value in an environment; empty when there is none. */
function markerOf(environment: string): string {
	const name = `${markerVariable}=`;
	const start = environment.startsWith(name) ? 0 : environment.indexOf(`\0${name}`) + 1;
	if (start === 0 && !environment.startsWith(name)) return "";
	return environment.slice(start + name.length).split("\0", 1)[0] ?? "";
}

const readProcMarkers = createSharedRun(() => readMarkers(procFiles));

/** The ids of the living processes that carry the marker. */
export async function findStragglers(marker: string, table?: ProcessTable): Promise<number[]> {
	const markers = await (table === undefined ? readProcMarkers() : readMarkers(table));
	return [...markers].flatMap(([processId, value]) => (value.includes(marker) ? [processId] : []));
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
