// Looks again and again which turns run and which process has them: twenty seconds after its last event, or the last fault that can
// hold it up, a turn is over, or the next process has ended it. Time does not count before there have been a database, a worker and a
// gateway without a gap, nor while a worker waits for a processor.
import { setTimeout as wait } from "node:timers/promises";
import type { Tally } from "../frame/campaign.ts";
import { waitedForProcessor } from "../wedge/heart.ts";
import type { Stage } from "./stage.ts";

const interval = 250;
/** Milliseconds that a turn may stand still: a lease, a look, and the taking over. */
export const longestStandstill = 20_000;

interface OpenTurn {
	milliseconds: number;
	lastSeq: number;
	pid: number;
	graveFaults: number;
	isReported: boolean;
	/** Whether the process that had it was lost. */
	isInterrupted: boolean;
}

export class TurnWatch {
	readonly #stage: Stage;
	readonly #tally: Tally;
	readonly #over = new AbortController();
	#open = new Map<string, OpenTurn>();
	/** By process: how long it has waited for a processor so far. */
	#waited: ReadonlyMap<number, number> = new Map();
	#running: Promise<void> = Promise.resolve();

	constructor(stage: Stage, tally: Tally) {
		this.#stage = stage;
		this.#tally = tally;
	}

	begin(): void {
		this.#running = this.#watch();
	}

	async end(): Promise<void> {
		this.#over.abort();
		await this.#running;
	}

	/** How many turns ran at the last look. */
	get open(): number {
		return this.#open.size;
	}

	async #watch(): Promise<void> {
		let last = performance.now();
		while (!this.#over.signal.aborted) {
			await wait(interval);
			const now = performance.now();
			const { isDatabaseUp, workers, gateways } = this.#stage;
			const isFair = isDatabaseUp && [workers, gateways].every((members) => members.some(({ isWell }) => isWell));
			if (!isFair) this.#stage.fairSince = now;
			const waited = this.#waitedSinceLast();
			await this.#look(Math.max(0, now - last - waited));
			last = now;
		}
	}

	/** Milliseconds that the worker waited for a processor which waited most. */
	#waitedSinceLast(): number {
		const now = new Map(
			this.#stage.workers.filter(({ isWell }) => isWell).map(({ pid }) => [pid, waitedForProcessor(pid)]),
		);
		const each = [...now].map(([pid, waited]) => waited - (this.#waited.get(pid) ?? waited));
		this.#waited = now;
		return Math.max(0, ...each);
	}

	async #look(passed: number): Promise<void> {
		const { database, workers, findings } = this.#stage;
		const { schema } = database;
		const rows = await database
			.query(
				`select s.id, s.running_turn, s.last_seq, coalesce(p.pid, 0) as pid from ${schema}.session s
				left join ${schema}.process p on p.id = s.holder where s.running_turn is not null`,
				[],
				{ timeout: 2_000 },
			)
			.catch(() => null);
		if (rows === null) return;
		const open = new Map<string, OpenTurn>();
		for (const { id, running_turn: turnId, last_seq, pid: holder } of rows) {
			const key = `${String(turnId)} of ${String(id)}`;
			const pid = Number(holder);
			const lastSeq = Number(last_seq);
			const known = this.#open.get(key);
			const worker = workers.find((each) => each.pid === (known?.pid ?? pid));
			const turn = known ?? {
				milliseconds: 0,
				lastSeq,
				pid,
				graveFaults: worker?.graveFaults ?? 0,
				isReported: false,
				isInterrupted: false,
			};
			open.set(key, turn);
			if (worker !== undefined && worker.graveFaults !== turn.graveFaults) {
				turn.graveFaults = worker.graveFaults;
				turn.milliseconds = 0;
				turn.isInterrupted = true;
			} else if (turn.lastSeq !== lastSeq) turn.milliseconds = 0;
			else turn.milliseconds += passed;
			turn.lastSeq = lastSeq;
			turn.milliseconds = Math.min(turn.milliseconds, performance.now() - this.#stage.fairSince);
			if (pid !== turn.pid) {
				turn.pid = pid;
				turn.graveFaults = workers.find((each) => each.pid === pid)?.graveFaults ?? 0;
			}
			this.#tally.atMost(
				turn.isInterrupted ? "longest until taken over, ms" : "longest standstill of a turn, ms",
				Math.round(turn.milliseconds),
			);
			if (turn.milliseconds > longestStandstill && !turn.isReported) {
				turn.isReported = true;
				const who = workers.find((each) => each.pid === pid);
				findings.push(
					`${new Date().toISOString()} turn ${key} has stood still for ${longestStandstill / 1000} s at ${who === undefined ? `process ${pid}, which is gone` : `${who.name}, ${who.state}`}`,
				);
			}
		}
		this.#open = open;
	}
}
