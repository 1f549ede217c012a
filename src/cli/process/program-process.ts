import type { FaultOwner } from "../../api/kernel.ts";
import type { Installation } from "../../host/installation.ts";
import { createLogFile, type LogFile, logFile } from "../../host/log/log-file.ts";
import type { Place } from "../../host/place.ts";
import { nobody } from "../../kernel/session/fault-owner.ts";
import type { ProgramOptions } from "../arguments/command-line.ts";
import { currentDirectory, homeDirectory, shareDirectory } from "../paths.ts";
import { environmentVariables } from "./environment.ts";
import { replaceStandardError } from "./standard-error.ts";
import { handleStopSignals, type StopSignal } from "./stop-signals.ts";

/** Milliseconds to defer optional startup work; the first responses are out by then. */
export const afterStart = 100;

export interface ProgramProcess {
	readonly place: Place;
	readonly environment: Readonly<Record<string, string>>;
	readonly shareDir: string;
	readonly installation: Installation;
	readonly log: LogFile;
}

export interface Interruptions {
	onSignal(signal: StopSignal): void;
	/** The owner to end after an uncaught exception, `nobody` if unknown; null if only the process can end. */
	faultOwner(): FaultOwner | null;
	onBroken(): void;
}

export function takeProcess(
	options: ProgramOptions,
	installation: Installation,
	interruptions: Interruptions,
): ProgramProcess {
	const place: Place = { currentDir: currentDirectory(), home: homeDirectory() };
	const environment = environmentVariables();
	const shareDir = shareDirectory(environment, place);
	const log = createLogFile(logFile(shareDir), options.debug);
	handleStopSignals(interruptions.onSignal);
	guardProcess(interruptions, log);
	logWarnings(log);
	replaceStandardError();
	return { place, environment, shareDir, installation, log };
}

/** Uncaught exceptions after which the whole process counts as broken. */
const faultLimit = 100;

/** Milliseconds in which a rejection may still be handled. */
const rejectionPatience = 1000;

/** A bug must not end the user's work: an uncaught exception is logged, and ends as little as possible. */
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
}

function logWarnings(log: LogFile): void {
	process.removeAllListeners("warning");
	process.on("warning", (warning) => log.warn("A warning of Node.", { error: warning }));
}
