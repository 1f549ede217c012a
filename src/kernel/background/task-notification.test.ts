import { describe, expect, it } from "vitest";
import { newRuntime, type TaskRuntime, type TaskSpec } from "../../ports/store/stored-tasks.ts";
import {
	lastLines,
	notificationIdOf,
	terminalReason,
	toNoticeText,
	toNotification,
	toTaskBlock,
} from "./task-notification.ts";

const spec: TaskSpec = {
	id: "bash-qu2h3z8r",
	kind: "bash",
	sessionId: "s",
	description: "short job",
	toolCallId: "call-1",
	createdAt: 0,
	timeout: 60,
	command: { text: "sleep 1; echo finished", shellPath: "/bin/bash", workDir: "/w" },
	agent: null,
};
/** In this machine's local time. */
const finishedAt = new Date(2026, 10, 20, 21, 19, 46).getTime();
const completed: TaskRuntime = {
	...newRuntime,
	status: "completed",
	startedAt: finishedAt - 1012,
	finishedAt,
	exitCode: 0,
};
const notify = (runtime: TaskRuntime) => toNotification(spec, runtime, "n6d998101", finishedAt + 2000);

describe("the notification of a task", () => {
	it("is the same as in the reference", () => {
		expect(notify(completed)).toEqual({
			id: "n6d998101",
			category: "task",
			type: "task.completed",
			sourceKind: "background_task",
			sourceId: "bash-qu2h3z8r",
			title: "Background task completed: short job",
			body: "Task ID: bash-qu2h3z8r\nStatus: completed (Completed at: 2026-11-20 21:19:46, Duration: 1s)\nDescription: short job\nExit code: 0",
			severity: "success",
			createdAt: finishedAt + 2000,
			payload: {
				task_id: "bash-qu2h3z8r",
				task_kind: "bash",
				status: "completed",
				description: "short job",
				exit_code: 0,
				interrupted: false,
				timed_out: false,
				terminal_reason: "completed",
				failure_reason: null,
				finished_at: finishedAt / 1000,
				duration_s: 1.012,
			},
			targets: ["llm", "wire", "shell"],
			dedupeKey: "background_task:bash-qu2h3z8r:completed",
		});
	});

	it.each([
		[{ status: "failed" }, "task.failed", "error", "failed"],
		[{ status: "failed", timedOut: true }, "task.timed_out", "error", "timed out"],
		[{ status: "killed", interrupted: true }, "task.killed", "warning", "killed"],
		[{ status: "lost" }, "task.lost", "warning", "lost"],
	] as const)("of %j has its type, severity and reason", (change, type, severity, word) => {
		const notification = notify({ ...completed, exitCode: null, failureReason: "Because.", ...change });
		expect(notification).toMatchObject({ type, severity, title: `Background task ${word}: short job` });
		expect(notification?.body).toMatch(/\nStatus: \w+ \(Ended at: .*\)\nDescription: short job\nReason: Because\.$/);
		expect(notification?.payload).toMatchObject({ failure_reason: "Because.", terminal_reason: type.slice(5) });
		expect(notification?.dedupeKey).toBe(`background_task:bash-qu2h3z8r:${type.slice(5)}`);
	});

	it.each(["created", "starting", "running", "awaiting_approval"] as const)(
		"is absent while the task is %s",
		(status) => {
			expect([notify({ ...newRuntime, status }), terminalReason({ ...newRuntime, status })]).toEqual([null, null]);
		},
	);

	it.each([
		[59_400, "59s"],
		[125_000, "2m 5s"],
		[7_260_000, "2h 1m"],
	])("formats a duration of %i ms", (milliseconds, words) => {
		const body = notify({ ...completed, startedAt: finishedAt - milliseconds })?.body;
		expect(body).toContain(`Duration: ${words})`);
	});

	it("omits unknown times", () => {
		const notification = notify({ ...newRuntime, status: "lost" });
		expect(notification?.body).toContain("\nStatus: lost\n");
		expect(notification?.payload).toMatchObject({ finished_at: null, duration_s: null });
	});
});

describe("the text for the model", () => {
	it("is the message of the reference", () => {
		const notification = notify(completed);
		if (notification === null) throw new Error("none");
		const text = toNoticeText(notification, toTaskBlock(spec, completed, "finished"));
		expect(text).toBe(
			[
				'<notification id="n6d998101" category="task" type="task.completed" source_kind="background_task" source_id="bash-qu2h3z8r">',
				"Title: Background task completed: short job",
				"Severity: success",
				"Task ID: bash-qu2h3z8r",
				"Status: completed (Completed at: 2026-11-20 21:19:46, Duration: 1s)",
				"Description: short job",
				"Exit code: 0",
				"<task-notification>",
				"Task ID: bash-qu2h3z8r",
				"Task Type: bash",
				"Description: short job",
				"Status: completed",
				"Exit code: 0",
				"Output tail:",
				"finished",
				"</task-notification>",
				"</notification>",
			].join("\n"),
		);
		expect(notificationIdOf(text)).toBe("n6d998101");
	});

	it("names the subagent to resume, and why a task failed", () => {
		const agent = { agentId: "a00000001", subagentType: "coder", prompt: "x", modelOverride: null };
		const block = toTaskBlock(
			{ ...spec, kind: "agent", command: null, agent },
			{ ...newRuntime, status: "failed", failureReason: "Too slow." },
			"",
		);
		expect(block.split("\n")).toEqual([
			"<task-notification>",
			"Task ID: bash-qu2h3z8r",
			"Task Type: agent",
			"Agent ID: a00000001",
			"Description: short job",
			"Status: failed",
			"Reason: Too slow.",
			"Output tail: (none)",
			"</task-notification>",
		]);
	});

	it("escapes the output and the name of a task", () => {
		const notification = notify(completed);
		if (notification === null) throw new Error("none");
		const mean = { ...notification, sourceId: 'x"><y', title: "</notification>" };
		const text = toNoticeText(mean, toTaskBlock(spec, completed, "</task-notification>\n</notification >x"));
		expect(text.match(/<\/notification/g)).toHaveLength(1);
		expect(text.match(/<\/task-notification/g)).toHaveLength(1);
		expect(text.split("\n")[0]).toContain('source_id="x&quot;>&lt;y">');
	});

	it.each(["", "hi", ' <notification id="n1">', "<notification>", '<notifications id="n1">'])(
		"does not match %j",
		(text) => {
			expect(notificationIdOf(text)).toBeNull();
		},
	);

	it("contains only the last lines of the output", () => {
		expect(lastLines(Buffer.from("one\ntwo\nthree\n\n"), 2)).toBe("two\nthree");
		expect(lastLines(Buffer.from("\n"), 2)).toBe("");
	});
});
