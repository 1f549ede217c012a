// Waits for the background tasks of a session.
import type { SessionApi } from "../../../src/api/kernel.ts";

/** Resolves once no background task runs. */
export async function untilTasksEnd(session: SessionApi): Promise<void> {
	for (;;) {
		const { tasks } = await session.send({ type: "tasks.list" });
		if (tasks.length === 0) return;
		await session.send({ type: "tasks.wait", ids: tasks.map(({ id }) => id), seconds: 600 });
	}
}
