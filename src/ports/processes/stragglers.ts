// Finds processes by the marker in their environment (Linux). Misses children that cleared it.
import { readFileSync } from "node:fs";
import { never } from "../../base/abort.ts";
import { type Clock, sleep } from "../../base/clock.ts";
import { createSharedRun } from "../../base/shared-run.ts";
import { processIds, scanPace } from "./process-table.ts";

/** Environment variable of every child. Names this run, preceded by the enclosing runs. */
export const markerVariable = "AGENTWIRE_RUN";

const lookLimit = 5;
const roundLimit = 20;
const roundPause = 10;

/** Marker value for a child. Nested runs include the outer markers, so that an outer sweep finds them too. */
export function markerValue(inherited: string | undefined, marker: string): string {
	return inherited === undefined || inherited === "" ? marker : `${inherited}:${marker}`;
}

export interface ProcessTable {
	ids(): number[];
	/** The environment of a process; empty during exec, when gone, or for another user's process. */
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

/** One scan may miss a process in exec, so scans repeat until nothing new is found. */
async function readMarkers(table: ProcessTable): Promise<ReadonlyMap<number, string>> {
	/** Null for an unreadable environment. */
	const markers = new Map<number, string | null>();
	for (let look = 0; look < lookLimit; look += 1) {
		const unread = table
			.ids()
			.filter((processId) => processId !== process.pid && (markers.get(processId) ?? null) === null);
		const isSettled = unread.every((processId) => markers.has(processId));
		for (const processId of unread) {
			const environment = table.environment(processId);
			markers.set(processId, environment === "" ? null : markerOf(environment));
			await scanPace.rest();
		}
		if (look > 0 && isSettled) break;
	}
	return new Map([...markers].flatMap(([processId, marker]) => (marker ? [[processId, marker]] : [])));
}

function markerOf(environment: string): string {
	const name = `${markerVariable}=`;
	const start = environment.startsWith(name) ? 0 : environment.indexOf(`\0${name}`) + 1;
	if (start === 0 && !environment.startsWith(name)) return "";
	return environment.slice(start + name.length).split("\0", 1)[0] ?? "";
}

const readProcMarkers = createSharedRun(() => readMarkers(procFiles));

export async function findStragglers(marker: string, table?: ProcessTable): Promise<number[]> {
	const markers = await (table === undefined ? readProcMarkers() : readMarkers(table));
	return [...markers].flatMap(([processId, value]) => (value.includes(marker) ? [processId] : []));
}

/** Kills every process with the marker, repeatedly, since they may fork meanwhile. Returns the ids that could not be killed. */
export async function sweepStragglers(marker: string, clock: Clock): Promise<readonly number[]> {
	let found: number[] = [];
	for (let round = 0; round < roundLimit; round += 1) {
		found = await findStragglers(marker);
		if (found.length === 0) return [];
		for (const processId of found) {
			try {
				process.kill(processId, "SIGKILL");
			} catch {
				// It already exited.
			}
		}
		await sleep(clock, roundPause, never);
	}
	return found;
}
