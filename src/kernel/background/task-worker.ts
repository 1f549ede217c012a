// Runs a command and records its output and state. Ends it with the parent unless it may outlive it.
import path from "node:path";
import { workIsOver } from "../../base/abort.ts";
import { type Clock, sleep } from "../../base/clock.ts";
import { errorText } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { commandEnvironment, shellInvocation } from "../../core/tools/shell.ts";
import type { ProcessOrigin } from "../../ports/files/living-process.ts";
import type { Files } from "../../ports/files/port.ts";
import type { Processes, RunOutcome } from "../../ports/processes/port.ts";
import { openTaskDirectory, outputName } from "../../ports/store/disk/background/task-files.ts";
import { newRuntime, type StoredTask, type TaskRuntime, type TaskSpec } from "../../ports/store/stored-tasks.ts";

export interface Lifeline {
	/** Aborts, with a human-readable reason, when the worker must end its command. */
	readonly cut: AbortSignal;
	/** Calls back when the worker should read its control file before the next interval. */
	onNudge(look: () => void): void;
}

export interface TaskWorkerOptions {
	readonly directory: string;
	readonly files: Files;
	/** Their grace period applies to kills. */
	readonly processes: Processes;
	readonly environment: Readonly<Record<string, string>>;
	readonly process: { readonly pid: number; readonly origin: ProcessOrigin };
	/** Milliseconds between two heartbeats, and between two control file reads. */
	readonly heartbeatInterval: number;
	readonly controlPollInterval: number;
	readonly lifeline: Lifeline;
	readonly clock: Clock;
	readonly log: Log;
}

/** Maximum bytes of stored output, so that endless output cannot fill the disk. */
const outputLimit = 256 * 1024 * 1024;

/** Milliseconds of grace for a command after the parent process is gone. */
const shortGrace = 300;

/** Runs the command of a task until it ends. Returns false when the task does not exist. */
export async function runTaskWorker(options: TaskWorkerOptions): Promise<boolean> {
	const { directory, files, clock, log } = options;
	const task = await openTaskDirectory(directory, {
		files,
		log,
		replace: (file, text, how) => files.replace(file, text, how),
		change: (_directory, work) => work(),
		now: () => clock.now(),
	});
	if (task === null || task.spec.command === null) {
		log.error("There is no background command to run.", { directory });
		return false;
	}
	await new TaskWorker(task, task.spec.command, options).run();
	return true;
}

type Command = NonNullable<TaskSpec["command"]>;
type Ended = RunOutcome["ended"];

function notStarted(thrown: unknown): Ended {
	return { kind: "not-started", reason: errorText(thrown) };
}

class TaskWorker {
	readonly #task: StoredTask;
	readonly #command: Command;
	readonly #options: TaskWorkerOptions;
	readonly #end = new AbortController();
	readonly #abortPending = new AbortController();
	readonly #over = new AbortController();
	#runtime: TaskRuntime = newRuntime;
	#killReason: string | null = null;
	#writing: Promise<void> = Promise.resolve();

	constructor(task: StoredTask, command: Command, options: TaskWorkerOptions) {
		this.#task = task;
		this.#command = command;
		this.#options = options;
	}

	async run(): Promise<void> {
		const { clock, lifeline } = this.#options;
		const { pid: workerPid, origin: workerOrigin } = this.#options.process;
		this.#write({ status: "starting", workerPid, workerOrigin, heartbeatAt: clock.now() });
		const onCut = () => this.#endInHaste(String(lifeline.cut.reason));
		lifeline.cut.addEventListener("abort", onCut, { once: true });
		if (lifeline.cut.aborted) onCut();
		await this.#lookAtControl();
		const watching = [this.#beat(), this.#watchControl()];
		const ended = await this.#runCommand().catch((thrown: unknown) => notStarted(thrown));
		this.#over.abort();
		await Promise.all(watching);
		this.#write(this.#toFinal(ended));
		await this.#writing;
	}

	async #runCommand(): Promise<Ended> {
		const { files, directory, processes, environment, clock } = this.#options;
		const { text, shellPath, workDir } = this.#command;
		const { timeout } = this.#task.spec;
		const output = await files.openAppend(path.join(directory, outputName));
		try {
			const { ended } = await processes.run(
				{
					file: shellPath,
					...shellInvocation(text),
					workDir,
					environment: commandEnvironment(environment, shellPath),
					...(timeout === null ? {} : { timeout: timeout * 1000 }),
					outputLimit: 0,
					outputTo: { sink: output, limit: outputLimit },
					abortPending: this.#abortPending.signal,
					onStart: (childPid) => {
						const now = clock.now();
						this.#write({ status: "running", childPid, startedAt: now, heartbeatAt: now });
					},
				},
				this.#end.signal,
			);
			return ended;
		} finally {
			await output.close().catch(() => undefined);
		}
	}

	async #beat(): Promise<void> {
		const { clock, heartbeatInterval } = this.#options;
		while (!this.#over.signal.aborted) {
			await sleep(clock, heartbeatInterval, this.#over.signal);
			if (!this.#over.signal.aborted) this.#write({ heartbeatAt: clock.now() });
		}
	}

	async #watchControl(): Promise<void> {
		const { clock, controlPollInterval, lifeline } = this.#options;
		let waiting = new AbortController();
		lifeline.onNudge(() => waiting.abort(workIsOver));
		while (!this.#over.signal.aborted) {
			await sleep(clock, controlPollInterval, AbortSignal.any([waiting.signal, this.#over.signal]));
			// A nudge during the read may concern something already read.
			waiting = new AbortController();
			if (!this.#over.signal.aborted) await this.#lookAtControl();
		}
	}

	/** Ends the command on request, or when the task files are gone and its result would be lost. */
	async #lookAtControl(): Promise<void> {
		const { files, directory, log } = this.#options;
		try {
			if ((await files.status(directory)) === null) return this.#endInHaste("The files of the task were removed.");
			const { killRequestedAt, killReason, force } = await this.#task.control();
			if (killRequestedAt === null) return;
			this.#killReason ??= killReason ?? "The task was stopped.";
			this.#end.abort();
			if (force) this.#abortPending.abort();
		} catch (thrown) {
			log.warn("the control file of a background command could not be read", { directory, cause: errorText(thrown) });
		}
	}

	#endInHaste(reason: string): void {
		this.#killReason ??= reason;
		this.#end.abort();
		void sleep(this.#options.clock, shortGrace, this.#over.signal).then(() => this.#abortPending.abort());
	}

	/** Writes in order: an earlier state never overwrites a later one. */
	#write(change: Partial<TaskRuntime>): void {
		const { clock, log, directory } = this.#options;
		const runtime = { ...this.#runtime, ...change, updatedAt: clock.now() };
		this.#runtime = runtime;
		this.#writing = this.#writing
			.then(() => this.#task.setRuntime(runtime))
			.catch((thrown: unknown) => {
				log.warn("the state of a background command could not be stored", { directory, cause: errorText(thrown) });
			});
	}

	#toFinal(ended: Ended): Partial<TaskRuntime> {
		const now = this.#options.clock.now();
		const final = { finishedAt: now, heartbeatAt: now };
		const failed = (failureReason: string) => ({ ...final, status: "failed" as const, failureReason });
		switch (ended.kind) {
			case "exited":
				if (ended.exitCode === 0) return { ...final, status: "completed", exitCode: 0 };
				return { ...failed(`Command failed with exit code: ${ended.exitCode}.`), exitCode: ended.exitCode };
			case "signalled":
				return failed(`The command was ended by signal ${ended.signal}.`);
			case "timed-out":
				return { ...failed(`The command was killed by its timeout of ${this.#task.spec.timeout} s.`), timedOut: true };
			case "not-started":
				return failed(`The command could not be started: ${ended.reason}.`);
			case "aborted":
				return { ...final, status: "killed", interrupted: true, failureReason: this.#killReason };
		}
	}
}
