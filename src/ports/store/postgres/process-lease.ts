// The lease of this process: while renewed, takeovers are deliberate. Times use the database clock, failed renewals the monotonic one.
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Clock } from "../../../base/clock.ts";
import { errorText, KernelError } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { Database } from "./database.ts";
import { removeLeftovers } from "./sessions/session-deletion.ts";

/** By which a process writes a session: the process id under which it took the session, and the term. */
export interface SessionRight {
	readonly sessionId: string;
	readonly holder: string;
	readonly term: number;
}

export interface HeldSession extends SessionRight {
	lose(reason: KernelError): void;
}

export interface ProcessLeaseOptions {
	readonly database: Database;
	readonly clock: Clock;
	readonly log: Log;
	/** Milliseconds: the lease duration, and the renewal interval. */
	readonly duration?: number;
	readonly interval?: number;
	readonly address?: string | null;
	readonly tags?: readonly string[];
}

const usualDuration = 10_000;
const usualInterval = 3_000;

const lapsed = "this process could not renew its lease in time; another one may have taken the session over.";
const takenOver = "another process has taken over the session.";

/** The notification that a session was taken from its holder: the ended term, a space, the session id. */
export function takenChannel(schema: string): string {
	return `${schema.slice(1, -1)}_taken`;
}

export class ProcessLease {
	readonly #options: ProcessLeaseOptions;
	readonly #database: Database;
	readonly #clock: Clock;
	readonly #log: Log;
	readonly #duration: number;
	readonly #interval: number;
	/** Milliseconds after the last renewal when the sessions count as lost. */
	readonly #patience: number;
	readonly #held = new Set<HeldSession>();
	#losses = 0;
	#id: string | null = null;
	#renewedAt = 0;
	#registering: Promise<string> | null = null;
	#withdraw: (() => void) | null = null;
	#isClosed = false;
	#isListening = false;

	constructor(options: ProcessLeaseOptions) {
		this.#options = options;
		this.#database = options.database;
		this.#clock = options.clock;
		this.#log = options.log;
		this.#duration = options.duration ?? usualDuration;
		this.#interval = options.interval ?? usualInterval;
		this.#patience = (2 * this.#duration) / 3;
	}

	/** Returns this process's id in the database, after registering the process if necessary. */
	async current(): Promise<string> {
		if (this.#isClosed) throw new KernelError("closed", "The store is closed.");
		if (this.#id !== null && this.#isLate()) this.lapse(this.#id);
		if (this.#id !== null) return this.#id;
		this.#registering ??= this.#register().finally(() => {
			this.#registering = null;
		});
		return await this.#registering;
	}

	hold(session: HeldSession): void {
		for (const other of [...this.#held]) {
			if (other.sessionId === session.sessionId) this.lose(other, "it was opened again in this process.");
		}
		this.#held.add(session);
	}

	release(session: HeldSession): void {
		this.#held.delete(session);
	}

	async look(): Promise<void> {
		const asked = [...this.#held];
		if (asked.length === 0) return;
		const gone = await this.#database.query(
			`select asked.n::int as n from unnest($1::text[], $2::bigint[], $3::text[]) with ordinality as asked(id, term, holder, n)
			join ${this.#database.schema}.session s on s.id = asked.id
			where s.term is distinct from asked.term or s.holder is distinct from asked.holder`,
			[asked.map((each) => each.sessionId), asked.map((each) => each.term), asked.map((each) => each.holder)],
			{ isUrgent: true },
		);
		for (const { n } of gone) {
			const session = asked[Number(n) - 1];
			if (session !== undefined && this.#held.has(session)) this.lose(session, takenOver);
		}
	}

	/** Marks sessions held under this id as lost: its lease expired. `current` then registers a new id. */
	lapse(holder: string): void {
		if (this.#id === holder) this.#id = null;
		for (const session of [...this.#held]) {
			if (session.holder === holder) this.lose(session, lapsed);
		}
	}

	lose(session: HeldSession, why: string): void {
		this.#held.delete(session);
		const { sessionId: id, term } = session;
		this.#log.error("a session is lost", { id, term, why });
		const text = `The session ${id} cannot be written in the database ${this.#database.name}: ${why}`;
		session.lose(new KernelError("storage-failed", text));
	}

	/** Ends the lease, so that other processes need not wait for its expiry. */
	async close(): Promise<void> {
		this.#isClosed = true;
		this.#withdraw?.();
		await this.#registering?.catch(() => undefined);
		const last = this.#id;
		this.#id = null;
		if (last === null) return;
		await this.#options.database
			.query(`delete from ${this.#database.schema}.process where id = $1`, [last], {
				isUrgent: true,
				timeout: this.#interval,
			})
			.catch((thrown: unknown) =>
				this.#log.info("the lease of this process was not ended", { cause: errorText(thrown) }),
			);
	}

	async #register(): Promise<string> {
		const next = randomUUID();
		const asked = this.#clock.monotonic();
		const milliseconds = `${this.#duration} milliseconds`;
		await this.#database.query(
			`insert into ${this.#database.schema}.process (id, lease_until, address, tags, host, pid)
			values ($1, now() + $2::interval, $3, $4, $5, $6)`,
			[next, milliseconds, this.#options.address ?? null, this.#options.tags ?? [], hostname(), process.pid],
			{ isUrgent: true },
		);
		if (this.#isClosed) throw new KernelError("closed", "The store is closed.");
		this.#id = next;
		this.#losses = 0;
		this.#renewedAt = asked;
		if (!this.#isListening) {
			this.#isListening = true;
			this.#database.listen(takenChannel(this.#database.schema), (payload) => this.#onTaken(payload));
			void removeLeftovers(this.#database).catch((thrown: unknown) =>
				this.#log.info("leftovers were not removed", { cause: errorText(thrown) }),
			);
		}
		this.#schedule();
		return next;
	}

	#onTaken(payload: string | null): void {
		if (payload === null) {
			void this.look().catch(() => undefined);
			return;
		}
		for (const session of [...this.#held]) {
			if (`${session.term} ${session.sessionId}` === payload) this.lose(session, takenOver);
		}
	}

	/** Returns whether the database responded. */
	async #renew(holder: string): Promise<boolean> {
		const asked = this.#clock.monotonic();
		try {
			const [row] = await this.#database.query(
				`update ${this.#database.schema}.process set lease_until = now() + $2::interval where id = $1 and lease_until > now() returning losses`,
				[holder, `${this.#duration} milliseconds`],
				{ isUrgent: true, timeout: this.#interval },
			);
			if (this.#id !== holder) return true;
			if (row === undefined) {
				this.lapse(holder);
				return true;
			}
			this.#renewedAt = asked;
			const found = Number(row["losses"]);
			if (found === this.#losses) return true;
			await this.look();
			this.#losses = found;
			return true;
		} catch (thrown) {
			this.#log.warn("the lease of this process was not renewed", { cause: errorText(thrown) });
			return false;
		}
	}

	#isLate(): boolean {
		return this.#clock.monotonic() - this.#renewedAt >= this.#patience;
	}

	#schedule(isAnswered = true): void {
		this.#withdraw?.();
		const holder = this.#id;
		if (holder === null || this.#isClosed) return;
		const withdrawRenewal = this.#clock.after(
			isAnswered ? this.#interval : this.#interval / 6,
			() => {
				void this.#renew(holder).then((answered) => {
					if (this.#id === holder) this.#schedule(answered);
				});
			},
			true,
		);
		const withdrawEnd = this.#clock.after(
			Math.max(0, this.#patience - (this.#clock.monotonic() - this.#renewedAt)),
			() => {
				if (this.#id === holder && this.#isLate()) this.lapse(holder);
			},
			true,
		);
		this.#withdraw = () => {
			withdrawRenewal();
			withdrawEnd();
		};
	}
}
