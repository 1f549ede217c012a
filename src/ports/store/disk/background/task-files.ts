// A background task's files, `tasks/<id>/`: the kernel writes specification and requests, the worker its state. Replaced atomically.
import path from "node:path";
import { isFinal } from "../../../../api/values/task-status.ts";
import { errorText, isSystemError } from "../../../../base/errors.ts";
import type { Log } from "../../../../base/log.ts";
import type { Files } from "../../../files/port.ts";
import {
	newRuntime,
	noControl,
	type StoredTask,
	type StoredTasks,
	type TaskSpec,
	unreadableRuntime,
} from "../../stored-tasks.ts";
import { parseLine } from "../logs/json-lines.ts";
import {
	fromControlFile,
	fromRuntimeFile,
	fromSpecFile,
	toControlFile,
	toRuntimeFile,
	toSpecFile,
} from "./task-shapes.ts";

const tasksDirectory = "tasks";
const specName = "spec.json";
const runtimeName = "runtime.json";
const controlName = "control.json";
const consumerName = "consumer.json";
export const outputName = "output.log";

/** Rejects path syntax in an id that the model chose. */
const idPattern = /^[a-z0-9][a-z0-9-]{1,24}$/;

export interface TaskFilesOptions {
	readonly files: Files;
	readonly log: Log;
	replace(file: string, text: string, options?: { readonly sync: boolean }): Promise<void>;
	change(directory: string, work: () => Promise<void>): Promise<void>;
	now(): number;
}

/** Reads a JSON object; null if invalid, undefined if the file is missing. */
async function readObject(files: Files, file: string): Promise<Record<string, unknown> | null | undefined> {
	const bytes = await files.read(file);
	return bytes === null ? undefined : parseLine(bytes.toString("utf8"));
}

export async function openTaskDirectory(directory: string, options: TaskFilesOptions): Promise<StoredTask | null> {
	const { files, log } = options;
	try {
		const spec = fromSpecFile(await readObject(files, path.join(directory, specName)));
		const isOwn = spec?.id === path.basename(directory);
		if (spec !== null && isOwn) return createTask(spec, directory, options);
		log.warn("a background task could not be read", { directory });
	} catch (thrown) {
		log.warn("a background task could not be read", { directory, cause: errorText(thrown) });
	}
	return null;
}

function createTask(spec: TaskSpec, directory: string, options: TaskFilesOptions): StoredTask {
	const { files, log } = options;
	const at = (name: string) => path.join(directory, name);
	const put = (name: string, value: object, sync = false) =>
		options.replace(at(name), JSON.stringify(value, null, 2), { sync });
	return {
		spec,
		directory,
		async runtime() {
			const value = await readObject(files, at(runtimeName));
			// Created, but the kernel exited before starting it.
			if (value === undefined) return newRuntime;
			const runtime = fromRuntimeFile(value);
			if (runtime !== null) return runtime;
			log.warn("the state of a background task could not be read", { path: at(runtimeName) });
			return unreadableRuntime;
		},
		// A power loss may lose heartbeats, but not the final state.
		setRuntime: (runtime) => put(runtimeName, toRuntimeFile(runtime), isFinal(runtime.status)),
		control: async () => fromControlFile(await readObject(files, at(controlName))) ?? noControl,
		setControl: (control) => put(controlName, toControlFile(control)),
		noteSeen: (outputSize) =>
			put(consumerName, { last_seen_output_size: outputSize, last_viewed_at: options.now() / 1000 }),
		appendOutput: (text) =>
			options.change(directory, async () => {
				const file = await files.openAppend(at(outputName));
				try {
					await file.append(text);
				} finally {
					await file.close();
				}
			}),
		async outputTail(limit) {
			try {
				const size = (await files.status(at(outputName)))?.size ?? 0;
				const start = Math.max(0, size - limit);
				const bytes = (await files.readRange(at(outputName), start, size - start)) ?? Buffer.alloc(0);
				return { bytes, size };
			} catch (thrown) {
				if (!isSystemError(thrown)) throw thrown;
				// The task's end notification quotes the output: unreadable output must not block it.
				log.warn("the output of a background task could not be read", { directory, cause: errorText(thrown) });
				const bytes = Buffer.from(`[The output cannot be read: ${errorText(thrown)}]`).subarray(0, limit);
				return { bytes, size: bytes.length };
			}
		},
		remove: () => options.change(directory, () => files.remove(directory)),
	};
}

/** Creates nothing before the first task. */
export function createTaskFiles(sessionDirectory: string, options: TaskFilesOptions): StoredTasks {
	const { files } = options;
	const parent = path.join(sessionDirectory, tasksDirectory);
	const any = async (): Promise<boolean> => (await files.status(parent))?.kind === "directory";
	return {
		any,
		async create(spec) {
			const directory = path.join(parent, spec.id);
			const specText = JSON.stringify(toSpecFile(spec), null, 2);
			await options.replace(path.join(directory, specName), specText, { sync: true });
			const task = createTask(spec, directory, options);
			await task.setControl(noControl);
			await options.replace(
				path.join(directory, consumerName),
				JSON.stringify({ last_seen_output_size: 0, last_viewed_at: null }, null, 2),
			);
			await task.appendOutput("");
			return task;
		},
		async list() {
			if (!(await any())) return [];
			const names = (await files.list(parent)).filter(({ name, kind }) => kind === "directory" && idPattern.test(name));
			const opened = await Promise.all(names.map(({ name }) => openTaskDirectory(path.join(parent, name), options)));
			return opened
				.filter((task) => task !== null)
				.sort((one, other) => one.spec.createdAt - other.spec.createdAt || (one.spec.id < other.spec.id ? -1 : 1));
		},
		async find(id) {
			if (!idPattern.test(id)) return null;
			const directory = path.join(parent, id);
			if ((await files.status(directory))?.kind !== "directory") return null;
			return await openTaskDirectory(directory, options);
		},
	};
}
