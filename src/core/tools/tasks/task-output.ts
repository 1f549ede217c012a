import * as v from "valibot";
import { toolSuccess } from "../../../api/values/content.ts";
import { isFinal, type TaskView } from "../../../api/values/task-status.ts";
import { boolean, integer } from "../argument-schemas.ts";
import type { TaskOutput } from "../operations.ts";
import { withoutRedraws } from "../shell-output.ts";
import type { Tool, ToolEnvironment } from "../tool.ts";
import { defineTool, readOnly, settled } from "../tool-definition.ts";
import { noBackgroundWork, taskLines, taskNotFound } from "./task-results.ts";

const previewLimit = 32 * 1024;

const description = `Show how a background task is doing and the last ${previewLimit / 1024} KiB of its output.

With \`block\` it waits until the task is over, for at most \`timeout\` seconds. Wait only for what you cannot go on without: you are notified when a task is over.`;

const schema = v.object({
	task_id: v.pipe(v.string(), v.description("The id of the task.")),
	block: v.optional(v.pipe(boolean(), v.description("Whether to wait until it is over.")), false),
	timeout: v.optional(
		v.pipe(integer(), v.minValue(0), v.maxValue(3600), v.description("Seconds to wait at most.")),
		30,
	),
});

export function createTaskOutput({ tasks }: ToolEnvironment): Tool {
	return defineTool({
		name: "TaskOutput",
		description,
		schema,
		prepare({ task_id: id, block, timeout }) {
			if (tasks === null) return settled(noBackgroundWork());
			return readOnly(async (signal) => {
				if (block) await tasks.wait(id, timeout, signal);
				const task = await tasks.find(id);
				const output = task === null ? null : await tasks.output(id, previewLimit);
				if (task === null || output === null) return taskNotFound(id);
				const retrieval = isFinal(task.status) ? "success" : block ? "timeout" : "not_ready";
				return toolSuccess({ output: toText(task, output, retrieval) });
			});
		},
	});
}

function toHint(isTruncated: boolean, outputPath: string | null): string {
	if (!isTruncated) return "All there is so far is shown below.";
	return outputPath === null
		? "Earlier output is not stored."
		: "ReadFile with the output_path shows what comes before.";
}

function toText(task: TaskView, output: TaskOutput, retrieval: string): string {
	const { status, interrupted, timedOut, exitCode, reason, outputPath } = task;
	const isTruncated = output.size > output.previewBytes;
	return [
		`retrieval_status: ${retrieval}`,
		...taskLines(task),
		`interrupted: ${interrupted}`,
		`timed_out: ${timedOut}`,
		...(isFinal(status) ? [`terminal_reason: ${timedOut ? "timed_out" : status}`] : []),
		...(exitCode === null ? [] : [`exit_code: ${exitCode}`]),
		...(reason === null ? [] : [`reason: ${reason}`]),
		...(outputPath === null ? [] : [`output_path: ${outputPath}`]),
		`output_size_bytes: ${output.size}`,
		`output_preview_bytes: ${output.previewBytes}`,
		`output_truncated: ${isTruncated}`,
		`full_output_available: ${outputPath !== null}`,
		...(outputPath === null ? [] : ["full_output_tool: ReadFile"]),
		`hint: ${toHint(isTruncated, outputPath)}`,
		"",
		"[output]",
		withoutRedraws(output.text),
	].join("\n");
}
