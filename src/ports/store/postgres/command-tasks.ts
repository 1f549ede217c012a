// A background command of a database session: its files are where it runs, its status and output end are copied for other machines.
import path from "node:path";
import { isFinal } from "../../../api/values/task-status.ts";
import type { Log } from "../../../base/log.ts";
import type { Files } from "../../files/port.ts";
import { createTaskFiles } from "../disk/background/task-files.ts";
import type { StoredTask, StoredTasks, TaskRuntime } from "../stored-tasks.ts";

/** Milliseconds between output copies while the command runs. */
const copyInterval = 5_000;
/** Maximum output bytes copied, from the end. */
const copiedOutput = 64 * 1024;

const lostReason = "The command ran on another machine, which no longer has the session.";

export interface LocalDirectory {
	readonly files: Files;
	readonly directory: string;
}

interface LocalFiles extends LocalDirectory {
	readonly log: Log;
	now(): number;
	whileOpen<T>(work: () => Promise<T>): Promise<T>;
}

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

export interface TaskCopy extends StoredTask {
	/** Replaces the output: its last bytes, and its total size. */
	copyOutput(bytes: Buffer, size: number): Promise<void>;
}

/** `local` is the task on this machine; null if it has no files here. */
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
			// The local state is authoritative even if the copy fails.
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

/** A command with files on another machine: if it was running, its outcome cannot be known here. */
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
