// The lease of this process: while it is renewed, nobody takes its sessions over unless he means to. All times are the
// clock of the database; that of this process, which only runs forward, says how long no renewal has succeeded.
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Clock } from "../../../base/clock.ts";
import { errorText, KernelError } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { Database } from "./database.ts";

/** A session that this process holds. */
export interface HeldSession {
	readonly id: string;
	/** The process id under which it was taken. */
	readonly holder: string;
	readonly term: number;
	/** Called once somebody else has it, or nobody knows. */
	lose(reason: KernelError): void;
}

export interface ProcessLease {
	/** The id of this process in the database, which is registered first if it must be. */
	current(): Promise<string>;
	hold(session: HeldSession): void;
	release(session: HeldSession): void;
	/** Looks whether others have taken sessions over. */
	look(): Promise<void>;
	/** Called when a write found the lease of this process run out. */
	lapse(holder: string): void;
	/** Ends it, so that nobody waits for it to run out. */
	close(): Promise<void>;
}

export interface ProcessLeaseOptions {
	readonly database: Database;
	readonly clock: Clock;
	readonly log: Log;
	/** Milliseconds that a lease lasts, and between two renewals. */
	readonly duration?: number;
	readonly interval?: number;
	/** What others know of this process: where it is reached, and which sessions it can run. */
	readonly address?: string | null;
	readonly tags?: readonly string[];
}

const usualDuration = 10_000;
const usualInterval = 3_000;

/** The notification that a session was taken from its holder: the term that is over, a space, its id. */
export function takenChannel(schema: string): string {
	return `${schema.slice(1, -1)}_taken`;
}

export function createProcessLease(options: ProcessLeaseOptions): ProcessLease {
	const { database, clock, log } = options;
	const { schema } = database;
	const duration = options.duration ?? usualDuration;
	const interval = options.interval ?? usualInterval;
	const held = new Set<HeldSession>();
	/** The number of times that sessions were taken which were noticed so far. */
	let losses = 0;
	let id: string | null = null;
	let renewedAt = 0;
	let registering: Promise<string> | null = null;
	let withdraw: (() => void) | null = null;
	let isClosed = false;
	let isListening = false;
	const channel = takenChannel(schema);

	const lostTo = (session: HeldSession, why: string): void => {
		held.delete(session);
		const reason = new KernelError(
			"storage-failed",
			`The session ${session.id} cannot be written in the database ${database.name}: ${why}`,
		);
		log.error("a session is lost", { id: session.id, term: session.term, why });
		session.lose(reason);
	};

	/** The sessions of this id of the process are over; the next call of `current` begins another one. */
	const loseAll = (holder: string): void => {
		if (id === holder) id = null;
		for (const session of [...held]) {
			if (session.holder === holder) {
				lostTo(session, "this process could not renew its lease in time; another one may have taken the session over.");
			}
		}
	};

	const register = async (): Promise<string> => {
		const next = randomUUID();
		const asked = clock.monotonic();
		const milliseconds = `${duration} milliseconds`;
		await database.query(
			`insert into ${schema}.process (id, lease_until, address, tags, host, pid)
			values ($1, now() + $2::interval, $3, $4, $5, $6)`,
			[next, milliseconds, options.address ?? null, options.tags ?? [], hostname(), process.pid],
			{ isUrgent: true },
		);
		if (isClosed) throw new KernelError("closed", "The store is closed.");
		id = next;
		losses = 0;
		renewedAt = asked;
		if (!isListening) {
			isListening = true;
			database.listen(channel, onTaken);
		}
		schedule();
		return next;
	};

	const onTaken = (payload: string | null): void => {
		if (payload === null) {
			void look().catch(() => undefined);
			return;
		}
		for (const session of [...held]) {
			if (`${session.term} ${session.id}` === payload) {
				lostTo(session, "another process has taken over the session.");
			}
		}
	};

	const look = async (): Promise<void> => {
		const asked = [...held];
		if (asked.length === 0) return;
		const gone = await database.query(
			`select asked.n::int as n from unnest($1::text[], $2::bigint[], $3::text[]) with ordinality as asked(id, term, holder, n)
			join ${schema}.session s on s.id = asked.id
			where s.term is distinct from asked.term or s.holder is distinct from asked.holder`,
			[asked.map((each) => each.id), asked.map((each) => each.term), asked.map((each) => each.holder)],
			{ isUrgent: true },
		);
		for (const { n } of gone) {
			const session = asked[Number(n) - 1];
			if (session !== undefined && held.has(session)) lostTo(session, "another process has taken over the session.");
		}
	};

	/** Whether there is an answer. */
	const renew = async (holder: string): Promise<boolean> => {
		const asked = clock.monotonic();
		try {
			const [row] = await database.query(
				`update ${schema}.process set lease_until = now() + $2::interval where id = $1 and lease_until > now() returning losses`,
				[holder, `${duration} milliseconds`],
				{ isUrgent: true, timeout: interval },
			);
			if (id !== holder) return true;
			if (row === undefined) {
				loseAll(holder);
				return true;
			}
			renewedAt = asked;
			const found = Number(row["losses"]);
			if (found === losses) return true;
			await look();
			losses = found;
			return true;
		} catch (thrown) {
			log.warn("the lease of this process was not renewed", { cause: errorText(thrown) });
			return false;
		}
	};

	/** Milliseconds from the last renewal on after which the sessions count as lost. */
	const patience = (2 * duration) / 3;

	const schedule = (isAnswered = true): void => {
		withdraw?.();
		const holder = id;
		if (holder === null || isClosed) return;
		const withdrawRenewal = clock.after(
			isAnswered ? interval : interval / 6,
			() => {
				void renew(holder).then((answered) => {
					if (id === holder) schedule(answered);
				});
			},
			true,
		);
		const withdrawEnd = clock.after(
			Math.max(0, patience - (clock.monotonic() - renewedAt)),
			() => {
				if (id === holder && clock.monotonic() - renewedAt >= patience) loseAll(holder);
			},
			true,
		);
		withdraw = () => {
			withdrawRenewal();
			withdrawEnd();
		};
	};

	return {
		async current() {
			if (isClosed) throw new KernelError("closed", "The store is closed.");
			if (id !== null && clock.monotonic() - renewedAt >= patience) loseAll(id);
			if (id !== null) return id;
			registering ??= register().finally(() => {
				registering = null;
			});
			return await registering;
		},
		hold(session) {
			// Of an earlier opening in this process.
			for (const other of [...held]) {
				if (other.id === session.id) lostTo(other, "it was opened again in this process.");
			}
			held.add(session);
		},
		release: (session) => void held.delete(session),
		look,
		lapse: loseAll,
		async close() {
			isClosed = true;
			withdraw?.();
			await registering?.catch(() => undefined);
			const last = id;
			id = null;
			if (last === null) return;
			await database
				.query(`delete from ${schema}.process where id = $1`, [last], { isUrgent: true, timeout: interval })
				.catch((thrown: unknown) => log.info("the lease of this process was not ended", { cause: errorText(thrown) }));
		},
	};
}
