import type { FaultOwner } from "../../api/kernel.ts";
import type { Installation } from "../../host/installation.ts";
import type { ProgramOptions } from "../arguments/command-line.ts";
import { endInTime } from "./process-exit.ts";
import { type ProgramProcess, takeProcess } from "./program-process.ts";

export interface StoppableProcess {
	readonly taken: ProgramProcess;
	readonly stopping: AbortController;
	/** From now on asks this for the owner of an uncaught exception; until then, one ends the process. */
	setFaultOwner(find: () => FaultOwner): void;
}

export function takeStoppableProcess(options: ProgramOptions, installation: Installation): StoppableProcess {
	const stopping = new AbortController();
	let faultOwner = (): FaultOwner | null => null;
	const taken = takeProcess(options, installation, {
		onSignal() {
			// The program may hang before an orderly shutdown is possible.
			endInTime(() => 0, taken.log);
			stopping.abort();
		},
		faultOwner: () => faultOwner(),
		onBroken: () => stopping.abort(),
	});
	return {
		taken,
		stopping,
		setFaultOwner(find) {
			faultOwner = find;
		},
	};
}
