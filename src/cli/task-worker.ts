// The worker process of a background command: its lifeline is stdin, and signals end the command gracefully.
import { systemClock } from "../base/clock.ts";
import { createConfinedProcesses, readWorkerEnvironment, withOwnProxy } from "../host/confined-worker.ts";
import { createLogFile, logFile } from "../host/log/log-file.ts";
import { toAbsolutePath } from "../host/place.ts";
import type { TaskWorkerFlags } from "../host/task-worker-arguments.ts";
import { type Lifeline, runTaskWorker } from "../kernel/background/task-worker.ts";
import { createDiskFiles } from "../ports/files/disk-files.ts";
import { ownProcess } from "../ports/files/living-process.ts";
import { privateBelow, privateWithin } from "../ports/files/private-paths.ts";
import { createProcesses } from "../ports/processes/children.ts";
import { currentDirectory, homeDirectory, shareDirectory } from "./paths.ts";
import { environmentVariables } from "./process/environment.ts";
import { handleStopSignals } from "./process/stop-signals.ts";

export async function runWorker(flags: TaskWorkerFlags): Promise<number> {
	const place = { currentDir: currentDirectory(), home: homeDirectory() };
	const { environment, ...given } = readWorkerEnvironment(environmentVariables());
	const shareDir = shareDirectory(environment, place);
	const log = createLogFile(logFile(shareDir), false);
	await log.open();
	const unconfined = createProcesses({ grace: flags.killGracePeriod, contain: flags.contain, log });
	const proxy = await withOwnProxy(given, { shareDir, files: createDiskFiles(privateBelow(shareDir)), log });
	const processes = createConfinedProcesses(unconfined, proxy.confinement);
	process.on("unhandledRejection", (reason) => log.error("A rejection was not handled.", { error: reason }));
	const directory = toAbsolutePath(flags.taskDirectory, place);
	const isRun = await runTaskWorker({
		directory,
		files: createDiskFiles(privateWithin(directory)),
		processes,
		environment,
		process: ownProcess(),
		heartbeatInterval: flags.heartbeatInterval,
		controlPollInterval: flags.controlPollInterval,
		lifeline: createLifeline(flags.keep),
		clock: systemClock,
		log,
	});
	await proxy.end();
	await log.flush();
	if (isRun) return 0;
	process.stderr.write(`Error: there is no task to run in ${directory}; the log has the details.\n`);
	return 1;
}

/** A line on stdin nudges; the end of stdin ends the command, unless the command may outlive the server. */
function createLifeline(keep: boolean): Lifeline {
	const cut = new AbortController();
	handleStopSignals((signal) => cut.abort(`The worker of the command was ended by ${signal}.`));
	const release = (): void => {
		if (!keep) cut.abort("The program that had started the command is gone.");
	};
	// Read from the start: the end of stdin ends the command.
	process.stdin.resume();
	process.stdin.once("end", release);
	process.stdin.once("error", release);
	return { cut: cut.signal, onNudge: (look) => void process.stdin.on("data", look) };
}
