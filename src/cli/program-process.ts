// The process that a program runs in: its place, its variables, its log, and what comes from outside while it works.
import { homedir } from "node:os";
import path from "node:path";
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
	/** Something was thrown that nobody caught; it is logged. The work is to end, and the exit code is 1 at least. */
	onFault(): void;
}

/** Takes the process over: its signals and faults are the program's from now on. */
export function takeProcess(
	options: ProgramOptions,
	packageDir: string,
	{ onSignal, onFault }: Interruptions,
): ProgramProcess {
	const place: Place = { currentDir: currentDirectory(), home: homedir() };
	const environment = environmentVariables();
	const shareDir = shareDirectory(environment, place);
	const log = createLogFile(path.join(shareDir, "logs", "agentwire.log"), options.debug);
	handleStopSignals(onSignal);
	guardProcess(onFault, log);
	return { place, environment, shareDir, packageDir, log };
}

/** A defect must not take the user's work down: what nobody caught is logged, and ends it in good order at worst. */
function guardProcess(onFault: () => void, log: LogFile): void {
	process.on("unhandledRejection", (reason) => log.error("A rejection was not handled.", { error: reason }));
	process.on("uncaughtException", (thrown) => {
		log.error("An exception was not caught; the work ends.", { error: thrown });
		process.exitCode = 1;
		onFault();
	});
	// Text for people may have nobody to read it.
	process.stderr.on("error", () => {});
}
