// A command in the background, as the kernel sees it: a worker of its own that it started, or one that it found.
import { aborted } from "../../base/abort.ts";
import { type Clock, sleep } from "../../base/clock.ts";
import { isFinal } from "../../events/task-status.ts";
import { isAlive } from "../../files/living-process.ts";
import type { StoredTask, TaskRuntime } from "../../store/stored-tasks.ts";
import type { ActiveTask } from "./active-task.ts";

/** How a worker is to work; milliseconds. */
export interface WorkerOptions {
	readonly heartbeatInterval: number;
	readonly controlPollInterval: number;
	readonly killGracePeriod: number;
	/** Whether the command goes on when this process has gone. */
	readonly keep: boolean;
}

/** A worker that was started from here. */
export interface TaskWorker {
	/** Resolves once it has gone. */
	readonly gone: Promise<unknown>;
	/** Makes it look at what is asked of it. */
	nudge(): void;
	/** Lets go of it: it ends its command in haste, unless that is to be kept. */
	release(): void;
}

/** Starts a worker for the task in this directory; rejects when it cannot be started. */
export type StartWorker = (taskDirectory: string, options: WorkerOptions) => Promise<TaskWorker>;

export interface FollowSettings {
	readonly clock: Clock;
	/** Milliseconds between two looks at the files of a worker that was not started from here. */
	readonly pollInterval: number;
	/** Milliseconds without a sign of life after which such a worker counts as gone. */
	readonly staleAfter: number;
}

const lostReason = "The worker of the command has gone without saying how the command ended.";

/** Follows a worker that was started from here. */
export function followOwnWorker(stored: StoredTask, worker: TaskWorker, { clock }: FollowSettings): ActiveTask {
	const left = new AbortController();
	const follow = async (): Promise<TaskRuntime | null> => {
		await Promise.race([worker.gone, aborted(left.signal)]);
		return left.signal.aborted ? null : await conclude(stored, lostReason, clock.now());
	};
	return {
		stored,
		canOutlive: true,
		ended: follow(),
		async stop(reason) {
			await requestKill(stored, reason, false, clock.now());
			worker.nudge();
		},
		abortPending: async () => worker.release(),
		leave() {
			left.abort();
			worker.release();
		},
	};
}

/** Follows a worker that an earlier process started, by its files. */
export function followFoundWorker(stored: StoredTask, settings: FollowSettings): ActiveTask {
	const { clock, pollInterval } = settings;
	const left = new AbortController();
	const follow = async (): Promise<TaskRuntime | null> => {
		const isLost = createLossCheck(settings);
		while (!left.signal.aborted) {
			const runtime = await stored.runtime();
			if (isFinal(runtime.status) || isLost(runtime)) return await conclude(stored, lostReason, clock.now());
			await sleep(clock, pollInterval, left.signal);
		}
		return null;
	};
	return {
		stored,
		canOutlive: true,
		ended: follow(),
		stop: (reason) => requestKill(stored, reason, false, clock.now()),
		async abortPending() {
			const { killReason } = await stored.control();
			await requestKill(stored, killReason ?? "", true, clock.now());
		},
		leave: () => left.abort(),
	};
}

/**
 * Whether a worker is gone: its process is, or it gave no sign of life for long enough while it was watched. A machine
 * that slept has old signs of life and living workers.
 */
function createLossCheck({ clock, staleAfter }: FollowSettings): (runtime: TaskRuntime) => boolean {
	let last: { readonly sign: number | null; readonly since: number } | null = null;
	return ({ workerPid, heartbeatAt, updatedAt }) => {
		if (workerPid !== null && !isAlive(workerPid)) return true;
		const since = workerPid === null ? (updatedAt ?? 0) : clock.now();
		if (last === null || last.sign !== heartbeatAt) last = { sign: heartbeatAt, since };
		return clock.now() - last.since > staleAfter;
	};
}

/** How a task ended whose worker has gone; when nothing says so, it was killed or is lost. */
export async function conclude(stored: StoredTask, lost: string, now: number): Promise<TaskRuntime> {
	const runtime = await stored.runtime();
	if (isFinal(runtime.status)) return runtime;
	const { killRequestedAt, killReason } = await stored.control();
	const isKilled = killRequestedAt !== null;
	const final: TaskRuntime = {
		...runtime,
		status: isKilled ? "killed" : "lost",
		interrupted: isKilled,
		updatedAt: now,
		finishedAt: now,
		failureReason: isKilled ? killReason : lost,
	};
	await stored.setRuntime(final);
	return final;
}

async function requestKill(stored: StoredTask, killReason: string, force: boolean, now: number): Promise<void> {
	await stored.setControl({ killRequestedAt: now, killReason, force });
}
