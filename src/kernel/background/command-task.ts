import { isFinal } from "../../api/values/task-status.ts";
import { aborted } from "../../base/abort.ts";
import { type Clock, sleep } from "../../base/clock.ts";
import { livenessOf } from "../../ports/files/living-process.ts";
import type { StoredTask, TaskRuntime } from "../../ports/store/stored-tasks.ts";
import type { ActiveTask } from "./active-task.ts";

export interface WorkerOptions {
	readonly heartbeatInterval: number;
	readonly controlPollInterval: number;
	readonly killGracePeriod: number;
	readonly keep: boolean;
	readonly outsideSandbox: boolean;
}

export interface TaskWorker {
	readonly gone: Promise<unknown>;
	/** Makes the worker read its control file now. */
	nudge(): void;
	/** Releases the worker. It ends its command after a short grace period, unless the command may outlive this process. */
	release(): void;
}

/** Starts a task worker in this directory. Rejects when it cannot be started. */
export type StartWorker = (taskDirectory: string, options: WorkerOptions) => Promise<TaskWorker>;

export interface FollowSettings {
	readonly clock: Clock;
	/** Milliseconds between two reads of the files of a worker from another process. */
	readonly pollInterval: number;
	/** Milliseconds without a heartbeat until such a worker counts as lost. */
	readonly staleAfter: number;
}

const lostReason = "The command's worker process disappeared before it reported how the command ended.";

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

/** Follows a worker from an earlier process through its files. */
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

/** Lost: the process is gone, or misses heartbeats while watched (after a suspend, old ones prove nothing). */
function createLossCheck({ clock, staleAfter }: FollowSettings): (runtime: TaskRuntime) => boolean {
	let last: { readonly sign: number | null; readonly since: number } | null = null;
	return ({ workerPid, workerOrigin, heartbeatAt, updatedAt }) => {
		const origin = workerOrigin ?? undefined;
		if (workerPid !== null && livenessOf({ pid: workerPid, origin }) === "ended") return true;
		const now = clock.monotonic();
		const since = workerPid === null ? now - (clock.now() - (updatedAt ?? 0)) : now;
		if (last === null || last.sign !== heartbeatAt) last = { sign: heartbeatAt, since };
		return now - last.since > staleAfter;
	};
}

/** Returns the final state of a task whose worker is gone. Without a recorded end, the task was killed or lost. */
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
