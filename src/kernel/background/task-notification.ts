// Texts about an ended background task: the client notification and the message for the model. Pure.

import { isFinal } from "../../api/values/task-status.ts";
import { attributeValue } from "../../base/text/quoting.ts";
import type { Notification, TaskRuntime, TaskSpec } from "../../ports/store/stored-tasks.ts";

export type TerminalReason = "completed" | "failed" | "timed_out" | "killed" | "lost";

export const taskSource = "background_task";

const severities: Readonly<Record<TerminalReason, string>> = {
	completed: "success",
	failed: "error",
	timed_out: "error",
	killed: "warning",
	lost: "warning",
};

export function terminalReason({ status, timedOut }: TaskRuntime): TerminalReason | null {
	switch (status) {
		case "completed":
		case "killed":
		case "lost":
			return status;
		case "failed":
			return timedOut ? "timed_out" : "failed";
		case "created":
		case "starting":
		case "running":
		case "awaiting_approval":
			return null;
	}
}

export function toNotification(spec: TaskSpec, runtime: TaskRuntime, id: string, now: number): Notification | null {
	const reason = terminalReason(runtime);
	if (reason === null) return null;
	return {
		id,
		category: "task",
		type: `task.${reason}`,
		sourceKind: taskSource,
		sourceId: spec.id,
		title: `Background task ${reason.replace("_", " ")}: ${spec.description}`,
		body: toBody(spec, runtime, reason),
		severity: severities[reason],
		createdAt: now,
		payload: {
			task_id: spec.id,
			task_kind: spec.kind,
			status: runtime.status,
			description: spec.description,
			exit_code: runtime.exitCode,
			interrupted: runtime.interrupted,
			timed_out: runtime.timedOut,
			terminal_reason: reason,
			failure_reason: runtime.failureReason,
			finished_at: runtime.finishedAt === null ? null : runtime.finishedAt / 1000,
			duration_s: durationOf(runtime),
		},
		targets: ["llm", "wire", "shell"],
		dedupeKey: `background_task:${spec.id}:${reason}`,
	};
}

function durationOf({ startedAt, finishedAt }: TaskRuntime): number | null {
	return startedAt === null || finishedAt === null ? null : Math.max(0, finishedAt - startedAt) / 1000;
}

function toBody(spec: TaskSpec, runtime: TaskRuntime, reason: TerminalReason): string {
	const { finishedAt, exitCode, failureReason } = runtime;
	const duration = durationOf(runtime);
	const facts = [
		...(finishedAt === null
			? []
			: [`${reason === "completed" ? "Completed" : "Ended"} at: ${toLocalTime(finishedAt)}`]),
		...(duration === null ? [] : [`Duration: ${toWords(duration)}`]),
	];
	return [
		`Task ID: ${spec.id}`,
		`Status: ${runtime.status}${facts.length === 0 ? "" : ` (${facts.join(", ")})`}`,
		`Description: ${spec.description}`,
		...(exitCode === null ? [] : [`Exit code: ${exitCode}`]),
		...(failureReason === null ? [] : [`Reason: ${failureReason}`]),
	].join("\n");
}

function toLocalTime(milliseconds: number): string {
	const date = new Date(milliseconds);
	const two = (value: number) => String(value).padStart(2, "0");
	const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join("-");
	return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":")}`;
}

function toWords(seconds: number): string {
	const whole = Math.round(seconds);
	const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
	if (hours > 0) return `${hours}h ${minutes}m`;
	return minutes > 0 ? `${minutes}m ${whole % 60}s` : `${whole}s`;
}

export function toNoticeText(notification: Notification, more: string | null): string {
	const { id, category, type, sourceKind, sourceId, title, severity, body } = notification;
	const attributes = Object.entries({ id, category, type, source_kind: sourceKind, source_id: sourceId });
	return [
		`<notification ${attributes.map(([name, value]) => `${name}="${attributeValue(value)}"`).join(" ")}>`,
		inert(`Title: ${title}\nSeverity: ${severity}\n${body}`),
		...(more === null ? [] : [more]),
		"</notification>",
	].join("\n");
}

export function notificationIdOf(text: string): string | null {
	return /^<notification id="([^"]*)"/.exec(text)?.[1] ?? null;
}

export function toTaskBlock(spec: TaskSpec, runtime: TaskRuntime, tail: string): string {
	const { exitCode, failureReason, status } = runtime;
	const lines = [
		`Task ID: ${spec.id}`,
		`Task Type: ${spec.kind}`,
		...(spec.agent === null ? [] : [`Agent ID: ${spec.agent.agentId}`]),
		`Description: ${spec.description}`,
		`Status: ${status}`,
		...(exitCode === null ? [] : [`Exit code: ${exitCode}`]),
		...(failureReason === null || !isFinal(status) ? [] : [`Reason: ${failureReason}`]),
		...(tail === "" ? ["Output tail: (none)"] : ["Output tail:", tail]),
	];
	return `<task-notification>\n${inert(lines.join("\n"))}\n</task-notification>`;
}

export function lastLines(bytes: Buffer, count: number): string {
	return bytes.toString("utf8").trimEnd().split("\n").slice(-count).join("\n");
}

/** Escapes tags in task output that would close the quoting block. */
function inert(text: string): string {
	return text.replace(/<(?=\/(?:task-)?notification\b)/g, "&lt;");
}
