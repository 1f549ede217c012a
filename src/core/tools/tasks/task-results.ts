import { type DisplayBlock, type ToolReturn, toolError, toolSuccess } from "../../../api/values/content.ts";
import type { TaskView } from "../../../api/values/task-status.ts";
import { shellWord } from "../../../base/text/quoting.ts";
import { cutLine } from "../text-limits.ts";

/** Maximum command characters to show; the model wrote the command itself. */
const shownCommandLength = 2000;

export function taskLines({ id, kind, status, description, command, agent }: TaskView): string[] {
	return [
		`task_id: ${id}`,
		`kind: ${kind}`,
		`status: ${status}`,
		`description: ${description}`,
		...(command === null ? [] : [`command: ${cutLine(command, shownCommandLength, "...")}`]),
		...(agent === null ? [] : [`agent_id: ${agent.id}`, `actual_subagent_type: ${agent.type}`]),
	];
}

export function taskBlock({ id, kind, status, description }: TaskView): DisplayBlock {
	return { type: "background_task", task_id: id, kind, status, description };
}

export function startedResult(task: TaskView): ToolReturn {
	const { id, kind, status, description, agent, outputPath } = task;
	const start = [...taskLines(task), "automatic_notification: true"];
	if (agent !== null) {
		const lines = [
			...start,
			"next_step: Go on with other work, or end your turn; you are notified when the subagent is done.",
			`next_step: TaskOutput with task_id ${id} shows how far it is, TaskStop ends it.`,
			`resume_hint: Once it is done, call Agent with resume ${agent.id} to go on with it.`,
		];
		return toolSuccess({ output: lines.join("\n"), message: "Background task started." });
	}
	const lines = [
		...start,
		"next_step: Go on with other work, or end your turn; you are notified when the command is over.",
		`next_step: TaskOutput with task_id ${id} shows what it has printed so far.`,
		`next_step: TaskStop with task_id ${id} ends it.`,
		`human_shell_hint: To watch it in a terminal: tail -f ${shellWord(outputPath ?? "")}`,
	];
	return toolSuccess({
		output: lines.join("\n"),
		message: "Background task started.",
		display: [
			{ type: "brief", text: `Started ${id}` },
			{ type: "background_task", task_id: id, kind, status, description },
		],
	});
}

export function noBackgroundWork(): ToolReturn {
	return toolError("Subagents have no background tasks. Do it in the foreground.", "Background task unavailable");
}

export function taskNotFound(id: string): ToolReturn {
	return toolError(
		`There is no background task ${id} in this session. TaskList shows those there are.`,
		"Task not found",
	);
}
