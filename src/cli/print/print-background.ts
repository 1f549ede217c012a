// Background results would be lost at exit, so the agent continues after each task (agent-kernel §1.9).

import type { SessionApi } from "../../api/kernel.ts";
import type { TaskView } from "../../api/values/task-status.ts";
import { unlessAborted } from "../../base/abort.ts";
import type { Turns } from "./print-turns.ts";
import { type PrintFailure, toFailure } from "./printer.ts";

export interface BackgroundWait {
	readonly session: Pick<SessionApi, "send">;
	readonly turns: Pick<Turns, "run">;
	/** Maximum seconds to wait for a task. */
	readonly ceiling: number;
}

const reminder =
	"<system-reminder>\nA background task of yours is over; its notification says how it went. Take it into account and go on with what depends on it. If nothing is left to do, say so in a sentence.\n</system-reminder>";

/** Returns null once the agent knows about every finished task, and on abort. Stops slow tasks. */
export async function awaitBackgroundWork(wait: BackgroundWait, signal: AbortSignal): Promise<PrintFailure | null> {
	const { session, turns } = wait;
	for (;;) {
		const { tasks, hasNews } = await session.send({ type: "tasks.list" });
		if (!hasNews) {
			if (tasks.length === 0) return null;
			const late = await awaitEnd(wait, tasks, signal);
			if (signal.aborted) return null;
			if (late !== null) return late;
			continue;
		}
		if (signal.aborted) return null;
		const failure = toFailure(await turns.run(reminder, { isOwn: true }));
		if (failure !== null) return failure;
	}
}

/** Waits for the first task to finish; returns a failure on timeout. */
async function awaitEnd(
	{ session, ceiling }: BackgroundWait,
	tasks: readonly TaskView[],
	signal: AbortSignal,
): Promise<PrintFailure | null> {
	const seconds = Math.min(ceiling, Math.max(...tasks.map(({ timeout }) => timeout ?? ceiling)));
	const ids = tasks.map(({ id }) => id);
	const waited = await unlessAborted(session.send({ type: "tasks.wait", ids, seconds }), signal);
	if (waited?.ended !== false) return null;
	await session.send({ type: "tasks.end" });
	const message = `Background tasks were still running after ${seconds} s and were ended: ${ids.join(", ")}.`;
	return { message, code: "background-timeout", status: "failed", exitCode: 1 };
}
