import path from "node:path";
import * as v from "valibot";
import { taskStatuses } from "../../../../api/values/task-status.ts";
import { processIdSchema, storedOriginSchema } from "../../../files/living-process.ts";
import type { TaskControl, TaskRuntime, TaskSpec } from "../../stored-tasks.ts";
import { toMilliseconds, toSeconds } from "../logs/seconds.ts";

const nullable = <S extends v.GenericSchema>(schema: S) => v.optional(v.nullable(schema), null);
const flag = v.optional(v.boolean(), false);
const time = nullable(v.number());
const processId = nullable(processIdSchema);

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
	worker_origin: storedOriginSchema,
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

export function toSpecFile({ command, agent, ...spec }: TaskSpec): object {
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

/** Null if the file lacks a field that its task kind requires. */
export function fromSpecFile(value: unknown): TaskSpec | null {
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

export function toRuntimeFile(runtime: TaskRuntime): object {
	return {
		status: runtime.status,
		worker_pid: runtime.workerPid,
		...(runtime.workerOrigin === null ? {} : { worker_origin: runtime.workerOrigin }),
		child_pid: runtime.childPid,
		child_pgid: runtime.childPid,
		started_at: toSeconds(runtime.startedAt),
		heartbeat_at: toSeconds(runtime.heartbeatAt),
		updated_at: toSeconds(runtime.updatedAt),
		finished_at: toSeconds(runtime.finishedAt),
		exit_code: runtime.exitCode,
		interrupted: runtime.interrupted,
		timed_out: runtime.timedOut,
		failure_reason: runtime.failureReason,
	};
}

export function fromRuntimeFile(value: unknown): TaskRuntime | null {
	const parsed = v.safeParse(runtimeSchema, value);
	if (!parsed.success) return null;
	const file = parsed.output;
	return {
		status: file.status,
		workerPid: file.worker_pid,
		workerOrigin: file.worker_origin ?? null,
		childPid: file.child_pid,
		startedAt: toMilliseconds(file.started_at),
		heartbeatAt: toMilliseconds(file.heartbeat_at),
		updatedAt: toMilliseconds(file.updated_at),
		finishedAt: toMilliseconds(file.finished_at),
		exitCode: file.exit_code,
		interrupted: file.interrupted,
		timedOut: file.timed_out,
		failureReason: file.failure_reason,
	};
}

export function toControlFile({ killRequestedAt, killReason, force }: TaskControl): object {
	return { kill_requested_at: toSeconds(killRequestedAt), kill_reason: killReason, force };
}

export function fromControlFile(value: unknown): TaskControl | null {
	const parsed = v.safeParse(controlSchema, value);
	if (!parsed.success) return null;
	const { kill_requested_at, kill_reason, force } = parsed.output;
	return { killRequestedAt: toMilliseconds(kill_requested_at), killReason: kill_reason, force };
}
