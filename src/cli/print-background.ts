// Background work behind a print run: nobody would hear of it once the program has ended, so the agent is called back
// whenever a task is over, until none is left or the time is up (agent-kernel §1.9).
import type { Clock } from "../base/clock.ts";
import type { Session } from "../kernel/session.ts";
import type { Turns } from "./print-turns.ts";
import { type PrintFailure, toFailure } from "./printer.ts";

export interface BackgroundWait {
	readonly session: Pick<Session, "backgroundTasks" | "backgroundTaskEnded">;
	readonly turns: Turns;
	/** Seconds that are waited at the most, whatever the tasks may take. */
	readonly ceiling: number;
	readonly clock: Clock;
}

const reminder =
	"<system-reminder>\nA background task of yours is over; its notification says how it went. Take it into account and go on with what depends on it. If nothing is left to do, say so in a sentence.\n</system-reminder>";

/** Waits; null when nothing goes on any more, or the signal aborts. What is left when the time is up ends with the session. */
export async function awaitBackgroundWork(wait: BackgroundWait, signal: AbortSignal): Promise<PrintFailure | null> {
	const { session, turns, ceiling, clock } = wait;
	const first = await session.backgroundTasks();
	const seconds = Math.min(ceiling, Math.max(...first.map(({ timeout }) => timeout ?? ceiling)));
	const late = new AbortController();
	const withdraw = clock.after(seconds * 1000, () => late.abort());
	try {
		for (let tasks = first; tasks.length > 0; tasks = await session.backgroundTasks()) {
			await session.backgroundTaskEnded(AbortSignal.any([signal, late.signal]));
			if (signal.aborted) return null;
			if (late.signal.aborted)
				return tooLate(
					tasks.map(({ id }) => id),
					seconds,
				);
			const failure = toFailure(await turns.run(reminder, { isOwn: true }));
			if (failure !== null) return failure;
		}
		return null;
	} finally {
		withdraw();
	}
}

function tooLate(ids: readonly string[], seconds: number): PrintFailure {
	const message = `Background tasks were still running after ${seconds} s and are ended: ${ids.join(", ")}.`;
	return { code: "background-timeout", message, exitCode: 1 };
}
