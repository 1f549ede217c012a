// The port to a PostgreSQL database: statements, transactions and notifications over a bounded number of connections. The
// only module that loads the client library, and only when it is used.
import type { Client, ClientConfig, Pool, PoolClient } from "pg";
import { unlessAborted, workIsOver } from "../../../base/abort.ts";
import { type Clock, sleep } from "../../../base/clock.ts";
import { errorText, KernelError, systemErrorCode } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import { type DatabaseAddress, isLocal, type TlsMode, toDatabaseName } from "./database-address.ts";

export type Row = Readonly<Record<string, unknown>>;
export type Query = (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

export interface QueryOptions {
	/** Milliseconds to wait for the answer instead of the usual ones. */
	readonly timeout?: number;
	/** Uses the connection that is reserved for what must not wait for others. */
	readonly isUrgent?: boolean;
	/** A name under which the server keeps the plan of the statement. */
	readonly name?: string;
}

/** Every failure is `storage-failed` and names host and database, never the password. */
export interface Database {
	/** Where it is, for people. */
	readonly name: string;
	/** The schema with all tables, as it is written in statements. */
	readonly schema: string;
	query(text: string, values?: readonly unknown[], options?: QueryOptions): Promise<readonly Row[]>;
	/** What `work` does with its argument happens as a whole when `work` succeeds, else not at all. */
	transaction<T>(work: (query: Query) => Promise<T>): Promise<T>;
	/**
	 * Calls back with the payload of each notification, and with null when some may have been missed: whoever listens looks
	 * for himself then, and at times without a reason.
	 */
	listen(channel: string, onPayload: (payload: string | null) => void): void;
	/** Ends all connections, after the statements that run. */
	close(): Promise<void>;
}

export interface DatabaseOptions {
	readonly address: DatabaseAddress;
	/** Instead of one in the address; read again for each connection, because it may be changed. */
	readonly readPassword?: () => Promise<string>;
	readonly tls?: { readonly mode: TlsMode | null; readonly authority: string | null };
	/** The name of the schema. */
	readonly schema?: string;
	/** The most connections for statements; two more are for notifications and for what is urgent. */
	readonly poolSize?: number;
	/** Milliseconds to wait for a connection, a free or a new one, and for the answer to each statement of a transaction. */
	readonly connectTimeout?: number;
	readonly queryTimeout?: number;
	readonly log: Log;
	readonly clock: Clock;
}

export const defaultSchema = "agentwire";
export const defaultPoolSize = 10;
const defaultConnectTimeout = 10_000;
const defaultQueryTimeout = 30_000;
/** Milliseconds to wait for the answer to any other statement: shorter, because somebody waits for what it is part of. */
const statementTimeout = 10_000;
const keepAliveDelay = 10_000;
const firstReconnect = 100;
const longestReconnect = 5_000;
/** Milliseconds between two looks whether the connection for notifications still answers. */
const pingInterval = 30_000;

/** States that pass by themselves: the server ends or restarts, is full, hands over to another one, or rolled back to let others pass. */
const transientStates = /^(?:08|57P0|53[34]00|40001|40P01|57014|25006)/;

/** Whether the library gave up waiting for an answer: the connection may be one on which nothing comes back any more. */
function isUnanswered(thrown: unknown): boolean {
	return errorText(thrown) === "Query read timeout";
}

/** Whether the same statement may succeed later; what it did, if it was sent, is unknown then. */
export function isTransient(thrown: unknown): boolean {
	const state = sqlState(thrown);
	return state === null
		? thrown instanceof KernelError && thrown.code === "storage-failed"
		: transientStates.test(state);
}

/** The SQLSTATE with which the server refused a statement; null for any other failure. */
export function sqlState(thrown: unknown): string | null {
	const cause = thrown instanceof KernelError ? thrown.cause : thrown;
	const code = systemErrorCode(cause);
	return code !== null && /^[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]{4}$/.test(code) ? code : null;
}

function toTls({ address, tls }: DatabaseOptions): ClientConfig["ssl"] {
	const mode = tls?.mode ?? address.tls ?? (isLocal(address) ? "disable" : "verify-full");
	const authority = tls?.authority ?? null;
	const ca = authority === null ? {} : { ca: authority };
	switch (mode) {
		case "disable":
			return false;
		case "require":
			return { ...ca, rejectUnauthorized: false };
		case "verify-ca":
			return { ...ca, rejectUnauthorized: true, checkServerIdentity: () => undefined };
		case "verify-full":
			return { ...ca, rejectUnauthorized: true };
	}
}

/** What to do about failures of which the text of the library or the server does not say it. */
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

/** Nothing is connected before the first call. */
export function createDatabase(options: DatabaseOptions): Database {
	const { address, log, clock } = options;
	const name = toDatabaseName(address);
	const queryTimeout = options.queryTimeout ?? defaultQueryTimeout;
	const closing = new AbortController();
	const channels = new Map<string, ((payload: string | null) => void)[]>();
	let listening: Promise<void> | null = null;
	let listener: Client | null = null;
	let isClosed = false;

	const failure = (thrown: unknown): KernelError => {
		if (thrown instanceof KernelError) return thrown;
		const text = `The database ${name} failed: ${errorText(thrown)}${/[.!]$/.test(errorText(thrown)) ? "" : "."}`;
		return new KernelError("storage-failed", `${text}${advice(thrown)}`, { cause: thrown });
	};

	const { readPassword } = options;
	const config: ClientConfig = {
		host: address.host,
		port: address.port,
		database: address.database,
		...(address.user === null ? {} : { user: address.user }),
		...(readPassword !== undefined
			? { password: readPassword }
			: address.password !== null
				? { password: address.password }
				: {}),
		ssl: toTls(options) ?? false,
		application_name: "agentwire",
		keepAlive: true,
		keepAliveInitialDelayMillis: keepAliveDelay,
		connectionTimeoutMillis: options.connectTimeout ?? defaultConnectTimeout,
		// Of the client: a proxy that pools connections refuses those of the server at the start of one.
		query_timeout: queryTimeout,
	};

	interface Pools {
		usual: Pool;
		readonly urgent: Pool;
		/** Former ones. */
		readonly retired: Pool[];
		createClient(): Client;
		/** Replaces the pool, if it is the present one: the next statements get new connections. */
		renew(pool: Pool): void;
	}
	let opening: Promise<Pools> | null = null;
	const pools = (): Promise<Pools> => {
		if (isClosed) return Promise.reject(new KernelError("closed", `The database ${name} is closed.`));
		opening ??= open();
		return opening;
	};
	const open = async (): Promise<Pools> => {
		const { Client, Pool } = (await import("pg")).default;
		const create = (max: number): Pool => {
			const pool = new Pool({ ...config, max, idleTimeoutMillis: 60_000, allowExitOnIdle: true });
			// Of a connection that is not in use: the next statement gets another one.
			pool.on("error", (error) =>
				log.info("a connection to the database was lost", { database: name, cause: errorText(error) }),
			);
			return pool;
		};
		const size = options.poolSize ?? defaultPoolSize;
		const opened: Pools = {
			usual: create(size),
			urgent: create(1),
			retired: [],
			createClient: () => new Client(config),
			renew(pool) {
				if (opened.usual !== pool) return;
				log.info("the connections to the database are renewed", { database: name });
				opened.usual = create(size);
				// Whoever waits for one of its connections gets it; those that are idle end after a while.
				opened.retired.push(pool);
			},
		};
		return opened;
	};

	const running = new Set<Promise<unknown>>();
	/** Closing waits for it: the library drops those that wait for a connection. */
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
			const opened = await pools();
			const { usual, urgent } = opened;
			const asked = {
				text,
				values: [...values],
				...(statement === undefined ? {} : { name: statement }),
				query_timeout: timeout ?? Math.min(queryTimeout, statementTimeout),
			};
			try {
				const { rows }: { readonly rows: readonly Row[] } = await (isUrgent ? urgent : usual).query(asked);
				return rows;
			} catch (thrown) {
				// What swallows the answers of one connection swallows those of the others that were open then, and each would be
				// waited for in its turn.
				if (isUnanswered(thrown)) opened.renew(usual);
				throw thrown;
			}
		} catch (thrown) {
			throw failure(thrown);
		}
	};

	const within = async <T>(client: PoolClient, work: (query: Query) => Promise<T>): Promise<T> => {
		await client.query("begin");
		const result = await work(async (text, values = []) => (await client.query(text, [...values])).rows);
		await client.query("commit");
		return result;
	};

	const transact = async <T>(work: (query: Query) => Promise<T>): Promise<T> => {
		try {
			const client = await (await pools()).usual.connect();
			let broken: Error | undefined;
			try {
				return await within(client, work);
			} catch (thrown) {
				await client.query("rollback").catch((error: unknown) => {
					broken = error instanceof Error ? error : new Error(errorText(error));
				});
				throw thrown;
			} finally {
				client.release(broken);
			}
		} catch (thrown) {
			throw failure(thrown);
		}
	};

	const deliver = (payload: string | null, channel: string | null): void => {
		for (const [known, listeners] of channels) {
			if (channel === null || channel === known) for (const onPayload of listeners) onPayload(payload);
		}
	};

	/** Listens until the connection is lost. */
	const listenOnce = async (onReady: () => void): Promise<void> => {
		const client = (await pools()).createClient();
		const ending = new AbortController();
		const { signal: over } = ending;
		const end = () => ending.abort(workIsOver);
		closing.signal.addEventListener("abort", end);
		if (closing.signal.aborted) end();
		client.on("error", end);
		client.on("end", end);
		client.on("notification", ({ channel, payload }) => deliver(payload ?? "", channel));
		// The library leaves some calls without an answer when the connection ends meanwhile.
		const unlessOver = (work: Promise<unknown>) => unlessAborted(work, over);
		try {
			await unlessOver(client.connect());
			for (const channel of channels.keys()) {
				if (!over.aborted) await unlessOver(client.query(`listen ${quoteName(channel)}`));
			}
			if (over.aborted) return;
			listener = client;
			onReady();
			deliver(null, null);
			while (!over.aborted) {
				await sleep(clock, pingInterval, over, true);
				if (!over.aborted) await unlessOver(client.query("select 1"));
			}
		} finally {
			closing.signal.removeEventListener("abort", end);
			listener = null;
			void client.end().catch(() => undefined);
		}
	};
	const keepListening = async (): Promise<void> => {
		let wait = firstReconnect;
		while (!closing.signal.aborted) {
			try {
				await listenOnce(() => {
					wait = firstReconnect;
				});
			} catch (thrown) {
				if (closing.signal.aborted) return;
				log.info("notifications of the database are not received", { database: name, cause: errorText(thrown) });
			}
			await sleep(clock, wait, closing.signal, true);
			wait = Math.min(2 * wait, longestReconnect);
		}
	};

	return {
		name,
		schema: quoteName(options.schema ?? defaultSchema),
		query: (text, values, how) => noted(query(text, values, how)),
		transaction: (work) => noted(transact(work)),
		listen(channel, onPayload) {
			channels.set(channel, [...(channels.get(channel) ?? []), onPayload]);
			if (listening === null) listening = keepListening();
			else void listener?.query(`listen ${quoteName(channel)}`).catch(() => undefined);
		},
		async close() {
			if (isClosed) return;
			await Promise.allSettled(running);
			isClosed = true;
			const opened = await opening?.catch(() => null);
			closing.abort();
			await listening;
			if (opened === null || opened === undefined) return;
			await Promise.all([opened.usual, opened.urgent, ...opened.retired].map((pool) => pool.end()));
		},
	};
}

/** A name as it is written in a statement. */
export function quoteName(name: string): string {
	return `"${name.replaceAll('"', '""')}"`;
}
