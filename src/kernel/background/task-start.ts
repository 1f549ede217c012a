import { type ToolReturn, toolError } from "../../api/values/content.ts";
import type { TaskView } from "../../api/values/task-status.ts";
import type { Clock } from "../../base/clock.ts";
import { errorText } from "../../base/errors.ts";
import type { Identifiers } from "../../base/ids.ts";
import { type Log, undo } from "../../base/log.ts";
import type { AgentRequest, CommandRequest } from "../../core/tools/operations.ts";
import type { StoredSession } from "../../ports/store/session-store.ts";
import { newRuntime, type StoredTask, type TaskSpec } from "../../ports/store/stored-tasks.ts";
import type { BackgroundSettings } from "../../settings/config/configuration.ts";
import type { ActiveTask } from "./active-task.ts";
import type { AgentStarter } from "./agent-task.ts";
import { type FollowSettings, followOwnWorker, type StartWorker } from "./command-task.ts";
import { toView } from "./task-view.ts";

export interface StartSettings {
	readonly settings: BackgroundSettings;
	readonly startWorker: StartWorker;
	readonly stored: StoredSession;
	readonly clock: Clock;
	readonly identifiers: Identifiers;
	readonly log: Log;
}

export type TaskStart =
	| { readonly ok: true; readonly active: ActiveTask; readonly task: TaskView }
	| { readonly ok: false; readonly result: ToolReturn };

export async function startCommand(
	{ command, shellPath, description, timeout, outsideSandbox }: CommandRequest,
	toolCallId: string,
	start: StartSettings,
	follow: FollowSettings,
): Promise<TaskStart> {
	const { stored, startWorker, settings, clock } = start;
	if (stored.directory === null) {
		return refuseStart("A background command needs a session with a directory on this machine.", "Start failed");
	}
	const task = await stored.tasks.create({
		...newSpec("bash", description, toolCallId, timeout, start),
		command: { text: command, shellPath, workDir: stored.workDir },
		agent: null,
	});
	const runtime = { ...newRuntime, status: "starting", updatedAt: clock.now() } as const;
	await task.setRuntime(runtime);
	try {
		const worker = await startWorker(task.directory ?? "", {
			heartbeatInterval: settings.workerHeartbeatIntervalMs,
			controlPollInterval: settings.waitPollIntervalMs,
			killGracePeriod: settings.killGracePeriodMs,
			keep: settings.keepAliveOnExit,
			outsideSandbox,
		});
		return { ok: true, active: followOwnWorker(task, worker, follow), task: toView(task, runtime) };
	} catch (thrown) {
		await removeUnstarted(task, start);
		return refuseStart(`The command could not be started: ${errorText(thrown)}.`, "Start failed");
	}
}

export async function startAgent(
	request: AgentRequest,
	toolCallId: string,
	{ subagents, runAgent }: AgentStarter,
	start: StartSettings,
): Promise<TaskStart> {
	const { stored, settings } = start;
	const held = await subagents.hold(request);
	if (!held.ok) return refuseStart(held.refusal.message, held.refusal.brief);
	const { agent } = held;
	const { prompt, model: modelOverride, description } = request;
	const timeout = request.timeout ?? settings.agentTaskTimeoutS;
	try {
		const task = await stored.tasks.create({
			...newSpec("agent", description, toolCallId, timeout, start),
			command: null,
			agent: { agentId: agent.id, subagentType: agent.typeName, prompt, modelOverride },
		});
		const active = await runAgent({ task, agent, request: { ...request, timeout } }).catch(async (thrown: unknown) => {
			await removeUnstarted(task, start);
			throw thrown;
		});
		return { ok: true, active, task: toView(task, { ...newRuntime, status: "running" }) };
	} catch (thrown) {
		agent.release();
		throw thrown;
	}
}

async function removeUnstarted(task: StoredTask, { log }: StartSettings): Promise<void> {
	await undo(() => task.remove(), "The files of a background task that was not started could not be removed.", log);
}

export function refuseStart(message: string, brief: string): Extract<TaskStart, { ok: false }> {
	return { ok: false, result: toolError(message, brief) };
}

function newSpec(
	kind: TaskSpec["kind"],
	description: string,
	toolCallId: string,
	timeout: number,
	{ stored, identifiers, clock }: StartSettings,
) {
	const id = `${kind}-${identifiers.hex(8)}`;
	return { id, kind, sessionId: stored.id, description, toolCallId, createdAt: clock.now(), timeout };
}
