// A background command of a session in the database. Its worker program has files on the machine that runs it; status and
// the end of the output are copied into the database, for when another machine has the session.
import path from "node:path";
import { isFinal } from "../../../api/values/task-status.ts";
import type { Log } from "../../../base/log.ts";
import type { Files } from "../../files/port.ts";
import { createTaskFiles } from "../disk/background/task-files.ts";
import type { StoredTask, StoredTasks, TaskRuntime } from "../stored-tasks.ts";

/** Milliseconds between two copies of the output while the command runs. */
const copyInterval = 5_000;
/** Bytes of the output that are copied: the last ones. */
const copiedOutput = 64 * 1024;

const lostReason = "The command ran on another machine, which does not have the session any more.";

export interface LocalFiles {
	readonly files: Files;
	/** The directory of the session on this machine. */
	readonly directory: string;
	readonly log: Log;
	/** Milliseconds since the epoch. */
	now(): number;
	/** Does the work while the session is open; fails `closed` after. */
	whileOpen<T>(work: () => Promise<T>): Promise<T>;
}

/** The tasks with files on this machine. */
export function createLocalTasks({ files, directory, log, now, whileOpen }: LocalFiles): StoredTasks {
	return createTaskFiles(directory, {
		files,
		log,
		now,
		replace: (file, text, options = { sync: false }) =>
			whileOpen(async () => {
				await files.makeDirectory(path.dirname(file));
				await files.replace(file, text, options);
			}),
		change: (_, work) => whileOpen(work),
	});
}

/** What the database has of the task. */
export interface TaskCopy extends StoredTask {
	/** Replaces the output: its last bytes, and how many there were in all. */
	copyOutput(bytes: Buffer, size: number): Promise<void>;
}

/** `local` is the task on this machine; null when it has no files here. */
export function createCommandTask(copy: TaskCopy, local: StoredTask | null, now: () => number): StoredTask {
	if (local === null) return createDistantTask(copy, now);
	let copiedStatus: TaskRuntime["status"] | null = null;
	let copiedAt = 0;
	let copiedSize = 0;

	const copyOutput = async (): Promise<void> => {
		const { bytes, size } = await local.outputTail(copiedOutput);
		if (size === copiedSize) return;
		await copy.copyOutput(bytes, size);
		copiedSize = size;
	};
	const copyRuntime = async (runtime: TaskRuntime): Promise<void> => {
		if (runtime.status === copiedStatus) return;
		if (isFinal(runtime.status)) await copyOutput();
		await copy.setRuntime(runtime);
		copiedStatus = runtime.status;
	};

	return {
		...local,
		async runtime() {
			const runtime = await local.runtime();
			// What is here is true, whatever becomes of the copy.
			await copyRuntime(runtime).catch(() => undefined);
			return runtime;
		},
		async setRuntime(runtime) {
			await local.setRuntime(runtime);
			await copyRuntime(runtime);
		},
		async outputTail(limit) {
			const tail = await local.outputTail(limit);
			if (now() - copiedAt >= copyInterval) {
				copiedAt = now();
				await copyOutput().catch(() => undefined);
			}
			return tail;
		},
		async remove() {
			await local.remove();
			await copy.remove();
		},
	};
}

/** A command whose files are elsewhere: if it ran, nobody here can know how it ended. */
function createDistantTask(copy: TaskCopy, now: () => number): StoredTask {
	return {
		...copy,
		async runtime() {
			const runtime = await copy.runtime();
			if (isFinal(runtime.status)) return runtime;
			const at = now();
			const lost = { ...runtime, status: "lost", updatedAt: at, finishedAt: at, failureReason: lostReason } as const;
			await copy.setRuntime(lost);
			return lost;
		},
	};
}
