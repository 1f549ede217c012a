// The process that a program runs in: its place, its variables, its log, and what comes from outside while it works.
import { homedir } from "node:os";
import path from "node:path";
import { type FaultOwner, nobody } from "../kernel/session/fault-owner.ts";
import type { ProgramOptions } from "./command-line.ts";
import { environmentVariables } from "./environment.ts";
import { createLogFile, type LogFile } from "./log-file.ts";
import { currentDirectory, type Place, shareDirectory } from "./paths.ts";
import { handleStopSignals, type StopSignal } from "./stop-signals.ts";

/** The process as the program finds it. */
export interface ProgramProcess {
	readonly place: Place;
	readonly environment: Readonly<Record<string, string>>;
	readonly shareDir: string;
	/** Where the program is installed, with the files that come with it. */
	readonly packageDir: string;
	readonly log: LogFile;
}

/** What a mode of the program is told from outside while it works. */
export interface Interruptions {
	onSignal(signal: StopSignal): void;
	/**
	 * Something was thrown that nobody caught; it is logged. Gives what is to end because of it, `nobody` where that cannot be
	 * told; null when nothing can be ended yet, or nothing is left but to end the process.
	 */
	faultOwner(): FaultOwner | null;
	/** The work is to end, and the exit code is 1 at least. */
	onBroken(): void;
}

/** Takes the process over: its signals and faults are the program's from now on. */
export function takeProcess(options: ProgramOptions, packageDir: string, interruptions: Interruptions): ProgramProcess {
	const place: Place = { currentDir: currentDirectory(), home: homedir() };
	const environment = environmentVariables();
	const shareDir = shareDirectory(environment, place);
	const log = createLogFile(path.join(shareDir, "logs", "agentwire.log"), options.debug);
	handleStopSignals(interruptions.onSignal);
	guardProcess(interruptions, log);
	return { place, environment, shareDir, packageDir, log };
}

/** Faults after which a process is taken for broken as a whole. */
const faultLimit = 100;

/** Milliseconds in which a rejection may still find somebody who handles it. */
const rejectionPatience = 1000;

/** A defect must not take the user's work down: what nobody caught is logged, and ends no more than it must. */
function guardProcess({ faultOwner, onBroken }: Interruptions, log: LogFile): void {
	let faults = 0;
	const take = (message: string, thrown: unknown, owner: FaultOwner | null): void => {
		faults += 1;
		log.error(message, { error: thrown });
		if (owner !== null && faults <= faultLimit) {
			owner.fail(thrown);
			return;
		}
		log.error("The work ends.", { faults });
		process.exitCode = 1;
		onBroken();
	};
	process.on("uncaughtException", (thrown) => take("An exception was not caught.", thrown, faultOwner()));
	const unhandled = new Map<Promise<unknown>, NodeJS.Timeout>();
	process.on("unhandledRejection", (reason, promise) => {
		const owner = faultOwner();
		const timer = setTimeout(() => {
			unhandled.delete(promise);
			take("A rejection was not handled.", reason, owner ?? nobody);
		}, rejectionPatience);
		unhandled.set(promise, timer.unref());
	});
	process.on("rejectionHandled", (promise) => {
		clearTimeout(unhandled.get(promise));
		unhandled.delete(promise);
	});
	// Text for people may have nobody to read it.
	process.stderr.on("error", () => {});
}
