// Writes other than commits: subagents, tasks, notifications. Idempotent, and without effect once another process has the session.
import { never, orAbort } from "../../../base/abort.ts";
import { type Clock, sleep } from "../../../base/clock.ts";
import { type Database, isTransient } from "./database.ts";
import type { SessionHold } from "./sessions/session-hold.ts";
import { statementTimeouts } from "./statement-timeouts.ts";

export interface FencedWritesOptions {
	readonly database: Database;
	readonly clock: Clock;
	readonly hold: SessionHold;
	readonly writer: { readonly exists: boolean; readonly version: number; begin(): Promise<void> };
}

export interface FencedWrites {
	/** Runs an idempotent statement that reads the session id from `head`; its parameters start at 4. */
	write(statement: string, values: readonly unknown[]): Promise<void>;
	settled(): Promise<void>;
}

const retryAfter = 200;

export function createFencedWrites({ database, clock, hold, writer }: FencedWritesOptions): FencedWrites {
	const { schema } = database;
	const { sessionId, term, holder, over } = hold;
	const running = new Set<Promise<void>>();

	const send = async (statement: string, values: readonly unknown[]): Promise<void> => {
		await writer.begin();
		const text = `with head as (
				select id from ${schema}.session where id = $1 and term = $2 and holder = $3
					and exists (select from ${schema}.process where id = $3 and lease_until > now()) for share
			), work as (${statement} returning 1)
			select (select count(*) from head) as heads, (select count(*) from work) as done`;
		for (const timeout of statementTimeouts()) {
			over.throwIfAborted();
			try {
				const sent = database.query(text, [sessionId, term, holder, ...values], { timeout });
				const rows = await orAbort(sent, over);
				if (Number(rows[0]?.["heads"]) > 0) return;
				await hold.examine(writer);
				over.throwIfAborted();
			} catch (thrown) {
				over.throwIfAborted();
				if (!isTransient(thrown)) throw thrown;
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
