// Writes other than commits: subagents, tasks, notifications. Idempotent, and without effect once another process has the session.
import { never, orAbort } from "../../../base/abort.ts";
import { type Clock, sleep } from "../../../base/clock.ts";
import type { KernelError } from "../../../base/errors.ts";
import { type Database, isTransient } from "./database.ts";
import { statementTimeouts } from "./statement-timeouts.ts";

export interface FencedWritesOptions {
	readonly database: Pick<Database, "schema" | "query">;
	readonly clock: Clock;
	readonly sessionId: string;
	readonly holder: string;
	readonly term: number;
	readonly lost: Promise<KernelError>;
	/** Creates the session row. Idempotent. */
	begin(): Promise<void>;
	onRefused(): Promise<void>;
}

export interface FencedWrites {
	/** Runs an idempotent statement that reads the session id from `head`; its parameters start at 4. */
	write(statement: string, values: readonly unknown[]): Promise<void>;
	settled(): Promise<void>;
}

const retryAfter = 200;

export function createFencedWrites(options: FencedWritesOptions): FencedWrites {
	const { database, clock, sessionId } = options;
	const { schema } = database;
	const running = new Set<Promise<void>>();
	let loss: KernelError | null = null;
	const over = new AbortController();
	void options.lost.then((reason) => {
		loss = reason;
		over.abort(reason);
	});

	const send = async (statement: string, values: readonly unknown[]): Promise<void> => {
		await options.begin();
		const text = `with head as (
				select id from ${schema}.session where id = $1 and term = $2 and holder = $3
					and exists (select from ${schema}.process where id = $3 and lease_until > now()) for share
			), work as (${statement} returning 1)
			select (select count(*) from head) as heads, (select count(*) from work) as done`;
		for (const timeout of statementTimeouts()) {
			if (loss !== null) throw loss;
			try {
				const sent = database.query(text, [sessionId, options.term, options.holder, ...values], { timeout });
				const rows = await orAbort(sent, over.signal);
				if (Number(rows[0]?.["heads"]) > 0) return;
				await options.onRefused();
				if (loss !== null) throw loss;
			} catch (thrown) {
				if (loss !== null || !isTransient(thrown)) throw loss ?? thrown;
			}
			await sleep(clock, retryAfter, never);
		}
	};

	return {
		async write(statement, values) {
			const sent = send(statement, values);
			const settled = sent.catch(() => undefined).then(() => void running.delete(settled));
			running.add(settled);
			await sent;
		},
		async settled() {
			while (running.size > 0) await Promise.all(running);
		},
	};
}
