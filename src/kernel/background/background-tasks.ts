// Starts, follows, finds and ends background tasks; every ended task publishes a notification.

import { isFinal } from "../../api/values/task-status.ts";
import { sleep } from "../../base/clock.ts";
import { createDeferred } from "../../base/deferred.ts";
import { errorText } from "../../base/errors.ts";
import type { AgentRequest, CommandRequest, StartedTask } from "../../core/tools/operations.ts";
import type { StoredTask } from "../../ports/store/stored-tasks.ts";
import type { ActiveTask } from "./active-task.ts";
import type { AgentStarter } from "./agent-task.ts";
import { conclude, type FollowSettings, followFoundWorker } from "./command-task.ts";
import type { LiveOutput } from "./live-output.ts";
import type { Notifications } from "./notifications.ts";
import { toNotification } from "./task-notification.ts";
import { refuseStart, type StartSettings, startAgent, startCommand, type TaskStart } from "./task-start.ts";

export interface BackgroundParts extends Pick<StartSettings, "settings" | "startWorker"> {
	/** Milliseconds until another program's delivery claim counts as abandoned. */
	readonly claimStaleAfter: number;
}

export interface BackgroundTaskSettings extends StartSettings {
	isClaimed(): boolean;
	readonly notifications: Pick<Notifications, "load" | "publish">;
	readonly liveOutput: Pick<LiveOutput, "follow" | "finish">;
}

const endReason = "The session ended.";
const agentLostReason = "The program ended while the subagent was at work.";

/** Milliseconds to wait for tasks to end, and to wait again after their child processes are killed. */
const endPatience = 800;
const shutdownPatience = 600;
/** Milliseconds to wait for pending writes of tasks no longer followed. */
const lastPatience = 200;

export class BackgroundTasks {
	readonly #settings: BackgroundTaskSettings;
	readonly #follow: FollowSettings;
	readonly #active = new Map<string, ActiveTask>();
	#starting = 0;
	#finding: Promise<void> | null = null;
	#endingAgents: Promise<void> | null = null;
	#ending: Promise<void> | null = null;
	#nextEnd = createDeferred<void>();

	constructor(settings: BackgroundTaskSettings) {
		const { clock } = settings;
		const { waitPollIntervalMs, workerStaleAfterMs } = settings.settings;
		this.#settings = settings;
		this.#follow = { clock, pollInterval: waitPollIntervalMs, staleAfter: workerStaleAfterMs };
	}

	/** Another process has written the session: the next `find` searches for tasks again. */
	forget(): void {
		this.#finding = null;
	}

	/** Resumes the tasks that an earlier process left, if this process writes the session. Idempotent. Never rejects. */
	async find(): Promise<void> {
		if (!this.#settings.isClaimed()) return;
		this.#finding ??= this.#findAll().catch((thrown: unknown) => {
			this.#settings.log.error("The background tasks of a session could not be resumed.", { error: thrown });
		});
		await this.#finding;
	}

	async active(): Promise<readonly ActiveTask[]> {
		await this.find();
		return [...this.#active.values()];
	}

	/** Waits up to this many milliseconds until one of these tasks has ended; returns whether one has. */
	async wait(ids: readonly string[], milliseconds: number, signal: AbortSignal): Promise<boolean> {
		await this.find();
		const ends: Promise<void>[] = [];
		for (const id of ids) {
			const task = this.#active.get(id);
			if (task === undefined) return true;
			ends.push(this.#endOf(task));
		}
		const late = new AbortController();
		const pause = sleep(this.#settings.clock, milliseconds, AbortSignal.any([signal, late.signal]));
		const hasEnded = await Promise.race([...ends.map((end) => end.then(() => true)), pause.then(() => false)]);
		late.abort();
		return hasEnded;
	}

	async stop(id: string, reason: string): Promise<void> {
		await this.find();
		await this.#active.get(id)?.stop(reason);
	}

	startCommand(request: CommandRequest, toolCallId: string): Promise<StartedTask> {
		return this.#inPlace("Start failed", () => startCommand(request, toolCallId, this.#settings, this.#follow));
	}

	startAgent(request: AgentRequest, toolCallId: string, starter: AgentStarter): Promise<StartedTask> {
		return this.#inPlace("Background start failed", () => startAgent(request, toolCallId, starter, this.#settings));
	}

	/** Ends all tasks within two seconds, including those that may outlive the session. */
	endEverything(): Promise<void> {
		return this.#endThose(() => true);
	}

	/** Ends the subagents and waits for them within the time limit; settles and delivers their open interactions. Idempotent. */
	endAgents(): Promise<void> {
		this.#endingAgents ??= this.#endThose(({ canOutlive }) => !canOutlive);
		return this.#endingAgents;
	}

	/** Ends the tasks that may not outlive the session within two seconds, and stops following all tasks. Idempotent. */
	end(): Promise<void> {
		this.#ending ??= this.#endAll();
		return this.#ending;
	}

	async #inPlace(brief: string, start: () => Promise<TaskStart>): Promise<StartedTask> {
		await this.find();
		const limit = this.#settings.settings.maxRunningTasks;
		if (this.#ending !== null) return refuseStart("The session is closing.", brief);
		if (this.#active.size + this.#starting >= limit) {
			return refuseStart(`There are ${limit} background tasks already, which is the limit. Stop one, or wait.`, brief);
		}
		this.#starting += 1;
		try {
			const started = await start();
			if (!started.ok) return started;
			this.#track(started.active);
			if (this.#ending !== null) await this.#endLate(started.active);
			return { ok: true, task: started.task };
		} finally {
			this.#starting -= 1;
		}
	}

	#track(task: ActiveTask): void {
		const { id } = task.stored.spec;
		this.#active.set(id, task);
		this.#settings.liveOutput.follow(task.stored);
		void this.#awaitEnd(task)
			.catch((thrown: unknown) => {
				this.#settings.log.error("The end of a background task could not be stored.", { task: id, error: thrown });
			})
			.finally(() => {
				this.#active.delete(id);
				this.#nextEnd.resolve();
				this.#nextEnd = createDeferred();
			});
	}

	async #awaitEnd({ stored, ended }: ActiveTask): Promise<void> {
		// Report the remaining output before the end of the task.
		const runtime = await ended.finally(() => this.#settings.liveOutput.finish(stored));
		if (runtime === null) return;
		this.#settings.log.info("A background task is over.", { task: stored.spec.id, status: runtime.status });
		await this.#settings.notifications.publish((id, now) => toNotification(stored.spec, runtime, id, now));
	}

	/** Resolves once the task has ended and its notification is published, or once the task is no longer followed. */
	async #endOf(task: ActiveTask): Promise<void> {
		while (this.#active.get(task.stored.spec.id) === task) await this.#nextEnd.promise;
	}

	async #findAll(): Promise<void> {
		const { stored, notifications } = this.#settings;
		const { tasks } = stored;
		const [areAny] = await Promise.all([tasks.any(), notifications.load()]);
		if (!areAny) return;
		for (const task of await tasks.list()) {
			if (this.#active.has(task.spec.id)) continue;
			try {
				await this.#resume(task);
			} catch (thrown) {
				const cause = errorText(thrown);
				this.#settings.log.warn("A background task could not be resumed.", { task: task.spec.id, cause });
			}
		}
	}

	/** Follows a running task, or publishes the missing notification of an ended one. */
	async #resume(task: StoredTask): Promise<void> {
		const { notifications, clock } = this.#settings;
		const runtime = await task.runtime();
		if (task.spec.kind === "bash" && !isFinal(runtime.status)) {
			this.#track(followFoundWorker(task, this.#follow));
			return;
		}
		// A subagent ended with the process that ran it.
		const final = await conclude(task, agentLostReason, clock.now());
		await notifications.publish((id, now) => toNotification(task.spec, final, id, now));
	}

	async #endAll(): Promise<void> {
		const isPersisted = this.#settings.settings.keepAliveOnExit;
		await Promise.all([this.endAgents(), isPersisted ? null : this.#endThose(({ canOutlive }) => canOutlive)]);
		const rest = [...this.#active.values()];
		for (const task of rest) task.leave();
		await this.#areOver(rest, lastPatience);
	}

	/** Ends a task whose start was in progress while the other tasks were ended. */
	async #endLate(task: ActiveTask): Promise<void> {
		const isPersisted = task.canOutlive && this.#settings.settings.keepAliveOnExit;
		try {
			if (!isPersisted) await task.stop(endReason);
		} catch (thrown) {
			const { id } = task.stored.spec;
			this.#settings.log.warn("The end of a background task could not be requested.", { task: id, error: thrown });
		} finally {
			task.leave();
		}
		await this.#areOver([task], lastPatience);
	}

	async #endThose(isMeant: (task: ActiveTask) => boolean): Promise<void> {
		await this.find();
		const tasks = [...this.#active.values()].filter(isMeant);
		await Promise.allSettled(tasks.map((task) => task.stop(endReason)));
		if (await this.#areOver(tasks, endPatience)) return;
		await Promise.allSettled(tasks.map((task) => task.abortPending()));
		await this.#areOver(tasks, shutdownPatience);
	}

	async #areOver(tasks: readonly ActiveTask[], milliseconds: number): Promise<boolean> {
		if (tasks.length === 0) return true;
		const late = new AbortController();
		const isOver = await Promise.race([
			Promise.all(tasks.map((task) => this.#endOf(task))).then(() => true),
			sleep(this.#settings.clock, milliseconds, late.signal).then(() => false),
		]);
		late.abort();
		return isOver;
	}
}
