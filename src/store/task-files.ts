// The files of one background task, `tasks/<id>/` in its session's directory. The kernel writes what the task is and
// what is asked of it, the worker of a command how it is doing. Whole files, replaced at once.
import path from "node:path";
import * as v from "valibot";
import { errorText } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { isFinal, taskStatuses } from "../events/task-status.ts";
import type { Files } from "../files/port.ts";
import { parseLine } from "./line-file.ts";
import {
	newRuntime,
	noControl,
	type StoredTask,
	type StoredTasks,
	type TaskControl,
	type TaskRuntime,
	type TaskSpec,
} from "./stored-tasks.ts";

const tasksDirectory = "tasks";
const specName = "spec.json";
const runtimeName = "runtime.json";
const controlName = "control.json";
const consumerName = "consumer.json";
export const outputName = "output.log";

/** Ids come from a model: one that is no plain name would lead out of the directory. */
const idPattern = /^[a-z0-9][a-z0-9-]{1,24}$/;

const nullable = <S extends v.GenericSchema>(schema: S) => v.optional(v.nullable(schema), null);
const flag = v.optional(v.boolean(), false);
const time = nullable(v.number());
const processId = nullable(v.pipe(v.number(), v.integer(), v.minValue(1)));

const specSchema = v.looseObject({
	id: v.string(),
	kind: v.picklist(["bash", "agent"]),
	session_id: v.string(),
	description: v.string(),
	tool_call_id: v.optional(v.string(), ""),
	created_at: v.number(),
	command: nullable(v.string()),
	shell_path: nullable(v.string()),
	cwd: nullable(v.string()),
	timeout_s: nullable(v.number()),
	kind_payload: nullable(v.record(v.string(), v.unknown())),
});

const agentSchema = v.looseObject({
	agent_id: v.string(),
	subagent_type: v.string(),
	prompt: v.optional(v.string(), ""),
	model_override: nullable(v.string()),
});

const runtimeSchema = v.looseObject({
	status: v.picklist(taskStatuses),
	worker_pid: processId,
	child_pid: processId,
	started_at: time,
	heartbeat_at: time,
	updated_at: time,
	finished_at: time,
	exit_code: nullable(v.number()),
	interrupted: flag,
	timed_out: flag,
	failure_reason: nullable(v.string()),
});

const controlSchema = v.looseObject({ kill_requested_at: time, kill_reason: nullable(v.string()), force: flag });

const seconds = (milliseconds: number | null) => (milliseconds === null ? null : milliseconds / 1000);
const milliseconds = (time: number | null) => (time === null ? null : time * 1000);

function toSpecFile({ command, agent, ...spec }: TaskSpec): object {
	return {
		version: 1,
		id: spec.id,
		kind: spec.kind,
		session_id: spec.sessionId,
		description: spec.description,
		tool_call_id: spec.toolCallId,
		owner_role: "root",
		created_at: spec.createdAt / 1000,
		command: command?.text ?? null,
		shell_name: command === null ? null : path.basename(command.shellPath),
		shell_path: command?.shellPath ?? null,
		cwd: command?.workDir ?? null,
		timeout_s: spec.timeout,
		kind_payload:
			agent === null
				? null
				: {
						agent_id: agent.agentId,
						subagent_type: agent.subagentType,
						prompt: agent.prompt,
						model_override: agent.modelOverride,
						launch_mode: "background",
					},
	};
}

/** Null when the file lacks what a task of its kind needs. */
function fromSpecFile(value: unknown): TaskSpec | null {
	const parsed = v.safeParse(specSchema, value);
	if (!parsed.success) return null;
	const { id, kind, session_id, description, tool_call_id, created_at, timeout_s, ...file } = parsed.output;
	const agent = v.safeParse(agentSchema, file.kind_payload);
	if (kind === "agent" && !agent.success) return null;
	const { command, shell_path, cwd } = file;
	if (kind === "bash" && (command === null || shell_path === null || cwd === null)) return null;
	return {
		id,
		kind,
		sessionId: session_id,
		description,
		toolCallId: tool_call_id,
		createdAt: created_at * 1000,
		timeout: timeout_s,
		command:
			command === null || shell_path === null || cwd === null
				? null
				: { text: command, shellPath: shell_path, workDir: cwd },
		agent: agent.success
			? {
					agentId: agent.output.agent_id,
					subagentType: agent.output.subagent_type,
					prompt: agent.output.prompt,
					modelOverride: agent.output.model_override,
				}
			: null,
	};
}

function toRuntimeFile(runtime: TaskRuntime): object {
	return {
		status: runtime.status,
		worker_pid: runtime.workerPid,
		child_pid: runtime.childPid,
		child_pgid: runtime.childPid,
		started_at: seconds(runtime.startedAt),
		heartbeat_at: seconds(runtime.heartbeatAt),
		updated_at: seconds(runtime.updatedAt),
		finished_at: seconds(runtime.finishedAt),
		exit_code: runtime.exitCode,
		interrupted: runtime.interrupted,
		timed_out: runtime.timedOut,
		failure_reason: runtime.failureReason,
	};
}

function fromRuntimeFile(value: unknown): TaskRuntime | null {
	const parsed = v.safeParse(runtimeSchema, value);
	if (!parsed.success) return null;
	const file = parsed.output;
	return {
		status: file.status,
		workerPid: file.worker_pid,
		childPid: file.child_pid,
		startedAt: milliseconds(file.started_at),
		heartbeatAt: milliseconds(file.heartbeat_at),
		updatedAt: milliseconds(file.updated_at),
		finishedAt: milliseconds(file.finished_at),
		exitCode: file.exit_code,
		interrupted: file.interrupted,
		timedOut: file.timed_out,
		failureReason: file.failure_reason,
	};
}

export interface TaskFilesOptions {
	readonly files: Files;
	readonly log: Log;
	/** Puts a whole file in its place; `sync` puts it on stable storage too. */
	replace(file: string, text: string, options?: { readonly sync: boolean }): Promise<void>;
	/** Does other work on the files of a task. */
	change(directory: string, work: () => Promise<void>): Promise<void>;
	/** Milliseconds since the epoch. */
	now(): number;
}

/** The JSON object in a file; null when it holds none, undefined when there is no file. */
async function readObject(files: Files, file: string): Promise<Record<string, unknown> | null | undefined> {
	const bytes = await files.read(file);
	return bytes === null ? undefined : parseLine(bytes.toString("utf8"));
}

/** The task in a directory; null, logged, when it cannot be read. */
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
			// Made and not begun when its kernel went.
			if (value === undefined) return newRuntime;
			const runtime = fromRuntimeFile(value);
			if (runtime === null) log.warn("the state of a background task could not be read", { path: at(runtimeName) });
			return runtime;
		},
		// Signs of life may be lost with the power; how it ended is told.
		setRuntime: (runtime) => put(runtimeName, toRuntimeFile(runtime), isFinal(runtime.status)),
		async control() {
			const parsed = v.safeParse(controlSchema, await readObject(files, at(controlName)));
			if (!parsed.success) return noControl;
			const { kill_requested_at, kill_reason, force } = parsed.output;
			return { killRequestedAt: milliseconds(kill_requested_at), killReason: kill_reason, force };
		},
		setControl: (control: TaskControl) =>
			put(controlName, {
				kill_requested_at: seconds(control.killRequestedAt),
				kill_reason: control.killReason,
				force: control.force,
			}),
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
			const size = (await files.status(at(outputName)))?.size ?? 0;
			const start = Math.max(0, size - limit);
			const bytes = (await files.readRange(at(outputName), start, size - start)) ?? Buffer.alloc(0);
			return { bytes, size };
		},
		remove: () => options.change(directory, () => files.remove(directory)),
	};
}

/** The tasks of the session in this directory. Nothing is made before the first task. */
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
