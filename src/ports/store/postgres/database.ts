import type { PoolClient } from "pg";
import { errorText, KernelError, systemErrorCode } from "../../../base/errors.ts";
import { type Connections, type DatabaseOptions, defaultQueryTimeout, openConnections } from "./connections.ts";
import { toDatabaseName } from "./database-address.ts";
import { Notifications, quoteName } from "./notifications.ts";

export type Row = Readonly<Record<string, unknown>>;
export type Query = (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

export interface QueryOptions {
	/** Overrides the response timeout, in milliseconds. */
	readonly timeout?: number;
	readonly isUrgent?: boolean;
	/** The name under which the server caches the statement's plan. */
	readonly name?: string;
}

/** Every failure is `storage-failed` and names host and database, never the password. */
export interface Database {
	/** The address, for people. */
	readonly name: string;
	/** The schema with all tables, quoted for statements. */
	readonly schema: string;
	query(text: string, values?: readonly unknown[], options?: QueryOptions): Promise<readonly Row[]>;
	/** Runs `work` in a transaction, which commits if `work` succeeds and rolls back otherwise. */
	transaction<T>(work: (query: Query) => Promise<T>): Promise<T>;
	/** Null means that notifications may have been missed: the listener must check for itself. */
	listen(channel: string, onPayload: (payload: string | null) => void): void;
	close(): Promise<void>;
}

export const defaultSchema = "agentwire";
/** Response timeout in milliseconds for a statement outside a transaction: shorter, because a caller is waiting. */
const statementTimeout = 10_000;

/** Transient states: the server stops or restarts, is full, fails over, or rolled back because of a conflict. */
const transientStates = /^(?:08|57P0|53[34]00|40001|40P01|57014|25006)/;

/** Whether the library timed out: this connection may never respond again. */
function isUnanswered(thrown: unknown): boolean {
	return errorText(thrown) === "Query read timeout";
}

/** Whether the same statement may succeed later; if it was sent, its effect is unknown. */
export function isTransient(thrown: unknown): boolean {
	const state = sqlState(thrown);
	return state === null
		? thrown instanceof KernelError && thrown.code === "storage-failed"
		: transientStates.test(state);
}

/** The SQLSTATE with which the server rejected a statement; null for any other failure. */
export function sqlState(thrown: unknown): string | null {
	const cause = thrown instanceof KernelError ? thrown.cause : thrown;
	const code = systemErrorCode(cause);
	return code !== null && /^[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]{4}$/.test(code) ? code : null;
}

/** The next step, for failures whose message does not name it. */
function advice(thrown: unknown): string {
	const text = errorText(thrown);
	if (text.includes("does not support SSL")) return ' Without encryption: tls = { mode = "disable" } in [store].';
	if (/certificate|CERT_/.test(`${systemErrorCode(thrown) ?? ""} ${text}`)) {
		return " Name the file of its authority as tls.ca_file in [store], or choose another tls.mode.";
	}
	if (text.includes("timeout exceeded when trying to connect")) {
		return " Either it does not answer, or all of pool_size connections are busy.";
	}
	return "";
}

function toFailure(database: string, thrown: unknown): KernelError {
	if (thrown instanceof KernelError) return thrown;
	const text = `The database ${database} failed: ${errorText(thrown)}${/[.!]$/.test(errorText(thrown)) ? "" : "."}`;
	return new KernelError("storage-failed", `${text}${advice(thrown)}`, { cause: thrown });
}

async function runTransaction<T>(client: PoolClient, work: (query: Query) => Promise<T>): Promise<T> {
	await client.query("begin");
	const result = await work(async (text, values = []) => (await client.query(text, [...values])).rows);
	await client.query("commit");
	return result;
}

export function createDatabase(options: DatabaseOptions): Database {
	const { log, clock } = options;
	const name = toDatabaseName(options.address);
	const queryTimeout = options.queryTimeout ?? defaultQueryTimeout;
	let isClosed = false;

	let opening: Promise<Connections> | null = null;
	const connections = (): Promise<Connections> => {
		if (isClosed) return Promise.reject(new KernelError("closed", `The database ${name} is closed.`));
		opening ??= openConnections(options);
		return opening;
	};
	const notifications = new Notifications(name, connections, log, clock);

	const running = new Set<Promise<unknown>>();
	/** Makes `close` wait for it: the library drops statements waiting for a connection. */
	const noted = <T>(work: Promise<T>): Promise<T> => {
		running.add(work);
		void work.catch(() => undefined).then(() => running.delete(work));
		return work;
	};

	const query = async (
		text: string,
		values: readonly unknown[] = [],
		{ timeout, isUrgent = false, name: statement }: QueryOptions = {},
	): Promise<readonly Row[]> => {
		try {
			const opened = await connections();
			const usual = opened.usual();
			const asked = {
				text,
				values: [...values],
				...(statement === undefined ? {} : { name: statement }),
				query_timeout: timeout ?? Math.min(queryTimeout, statementTimeout),
			};
			try {
				const { rows }: { readonly rows: readonly Row[] } = await (isUrgent ? opened.urgent : usual).query(asked);
				return rows;
			} catch (thrown) {
				// The other open connections have probably lost their answers too; each would have to time out in turn.
				if (isUnanswered(thrown)) opened.renew(usual);
				throw thrown;
			}
		} catch (thrown) {
			throw toFailure(name, thrown);
		}
	};

	const transact = async <T>(work: (query: Query) => Promise<T>): Promise<T> => {
		try {
			const client = await (await connections()).usual().connect();
			let broken: Error | undefined;
			try {
				return await runTransaction(client, work);
			} catch (thrown) {
				await client.query("rollback").catch((error: unknown) => {
					broken = error instanceof Error ? error : new Error(errorText(error));
				});
				throw thrown;
			} finally {
				client.release(broken);
			}
		} catch (thrown) {
			throw toFailure(name, thrown);
		}
	};

	return {
		name,
		schema: quoteName(options.schema ?? defaultSchema),
		query: (text, values, how) => noted(query(text, values, how)),
		transaction: (work) => noted(transact(work)),
		listen: (channel, onPayload) => notifications.listen(channel, onPayload),
		async close() {
			if (isClosed) return;
			await Promise.allSettled(running);
			isClosed = true;
			const opened = await opening?.catch(() => null);
			await notifications.close();
			await opened?.close();
		},
	};
}
