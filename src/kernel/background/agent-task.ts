import { setMaxListeners } from "node:events";
import type { AgentEvent, EventBody } from "../../api/values/event.ts";
import { truncationText } from "../../api/values/truncation.ts";
import { errorText } from "../../base/errors.ts";
import { createKeyedQueue } from "../../base/keyed-queue.ts";
import type { Log } from "../../base/log.ts";
import type { AgentRequest } from "../../core/tools/operations.ts";
import { newRuntime, type StoredTask, type TaskRuntime } from "../../ports/store/stored-tasks.ts";
import type { FinishedRun } from "../subagents/subagent-run.ts";
import type { HeldAgent, Subagents } from "../subagents/subagents.ts";
import type { AgentServices } from "../turn/turn-dependencies.ts";
import type { ActiveTask } from "./active-task.ts";
import { createBackgroundEmitter } from "./background-emitter.ts";

export interface AgentWork {
	readonly task: StoredTask;
	readonly agent: HeldAgent;
	readonly request: AgentRequest;
}

export interface AgentStarter {
	readonly subagents: Pick<Subagents, "hold">;
	runAgent(work: AgentWork): Promise<ActiveTask>;
}

/** Progress events of a background subagent go to no client. */
const unwatched: AgentServices["progress"] = { open: () => ({ report() {}, skip() {}, end() {} }) };

/** Starts the run. Its events go only to the task log. Rejects when the start cannot be persisted. */
export async function startAgentTask(work: AgentWork, services: AgentServices, log: Log): Promise<ActiveTask> {
	const { task, agent, request } = work;
	const { stored, clock } = services;
	const { id, toolCallId } = task.spec;
	const controller = new AbortController();
	setMaxListeners(0, controller.signal);
	const writes = createKeyedQueue();
	const openInteractions = new Map<string, string>();
	let runtime: TaskRuntime = newRuntime;
	const update = (change: Partial<TaskRuntime>): Promise<void> => {
		const now = clock.now();
		runtime = { ...runtime, ...change, updatedAt: now, heartbeatAt: now };
		const changed = runtime;
		return writes.run("", () => task.setRuntime(changed));
	};
	const showInteractions = (): Promise<void> => {
		const [waitingFor] = openInteractions.values();
		return update(
			waitingFor === undefined
				? { status: "running", failureReason: null }
				: { status: "awaiting_approval", failureReason: waitingFor },
		);
	};
	const emitter = createBackgroundEmitter({
		stored,
		emitter: services.emitter,
		observation: services.observation,
		clock,
		note: (events) => task.appendOutput(events.map(toOutput).join("")),
		async asked(interaction) {
			if (interaction.kind !== "approval") return;
			openInteractions.set(interaction.id, interaction.description);
			await showInteractions();
		},
		async answered(interactionId) {
			if (openInteractions.delete(interactionId)) await showInteractions();
		},
	});
	const own: AgentServices = {
		...services,
		emitter,
		progress: unwatched,
		sourceKind: "background_agent",
		budget: services.budget.outsideTurns(),
		persisted: (persistence) => persistence,
	};

	const run = async (): Promise<TaskRuntime | null> => {
		let final: Partial<TaskRuntime>;
		try {
			const place = { toolCallId, turnId: id, services: own, taskId: id };
			const finished = await agent.run(request, place, controller.signal);
			await task.appendOutput(toLastOutput(finished));
			final = toFinal(finished, String(controller.signal.reason));
		} catch (thrown) {
			log.error("A subagent in the background failed.", { task: id, error: thrown });
			final = { status: "failed", failureReason: errorText(thrown) };
		} finally {
			agent.release();
		}
		await update({ ...final, finishedAt: clock.now() });
		return runtime;
	};

	await update({ status: "running", startedAt: clock.now() });
	return {
		stored: task,
		canOutlive: false,
		ended: run(),
		async stop(reason) {
			controller.abort(reason);
		},
		abortPending: async () => {},
		leave: () => {},
	};
}

function toFinal({ outcome, report, isTimedOut, result }: FinishedRun, stopReason: string): Partial<TaskRuntime> {
	if (outcome.status === "finished" && report !== "") return { status: "completed", failureReason: null };
	if (outcome.status === "truncated" && report !== "")
		return { status: "failed", failureReason: truncationText(outcome.reason) };
	if (outcome.status === "cancelled" && !isTimedOut) {
		return { status: "killed", interrupted: true, failureReason: stopReason };
	}
	return { status: "failed", timedOut: isTimedOut, failureReason: result.message };
}

function toLastOutput({ outcome, report, result }: FinishedRun): string {
	const hasReport = (outcome.status === "finished" || outcome.status === "truncated") && report !== "";
	return hasReport ? `[summary]\n${report}\n` : `[ended] ${result.message}\n`;
}

/** The line of task output for an event; empty for most events. */
function toOutput({ body }: AgentEvent): string {
	const text = toLine(body);
	return text === "" ? "" : `${text.trimEnd()}\n`;
}

function toLine(body: EventBody): string {
	if (body.type === "content.completed") return body.part.type === "text" ? body.part.text : "";
	if (body.type === "tool.requested") {
		const { name, arguments: text } = body.call.function;
		return `[${name}] ${text ?? ""}`;
	}
	return body.type === "tool.result" && body.result.is_error ? `[failed] ${body.result.message}` : "";
}
