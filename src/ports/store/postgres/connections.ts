// The connections to a PostgreSQL database. The only module that loads the client library, on first use.
import type { Client, ClientConfig, Pool } from "pg";
import type { Clock } from "../../../base/clock.ts";
import { errorText } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import { type DatabaseAddress, isLocal, type TlsMode, toDatabaseName } from "./database-address.ts";

export interface DatabaseOptions {
	readonly address: DatabaseAddress;
	/** Replaces the password in the URL. Called for each connection, because the password may change. */
	readonly readPassword?: () => Promise<string>;
	readonly tls?: { readonly mode: TlsMode | null; readonly authority: string | null };
	readonly schema?: string;
	/** Maximum connections for statements. Two more are reserved: for notifications and for urgent statements. */
	readonly poolSize?: number;
	/** Milliseconds to wait for a connection, and for the response to each statement of a transaction. */
	readonly connectTimeout?: number;
	readonly queryTimeout?: number;
	readonly log: Log;
	readonly clock: Clock;
}

export const defaultPoolSize = 10;
export const defaultQueryTimeout = 30_000;
const defaultConnectTimeout = 10_000;
const keepAliveDelay = 10_000;

export interface Connections {
	/** The pool for statements. `renew` replaces it. */
	usual(): Pool;
	/** One connection for statements that must not wait for others. */
	readonly urgent: Pool;
	createClient(): Client;
	/** Replaces the pool if it is still current: later statements get new connections. */
	renew(pool: Pool): void;
	close(): Promise<void>;
}

export async function openConnections(options: DatabaseOptions): Promise<Connections> {
	const { log, address, poolSize = defaultPoolSize } = options;
	const { Client, Pool } = (await import("pg")).default;
	const config = toConfig(options);
	const database = toDatabaseName(address);
	const create = (max: number): Pool => {
		const pool = new Pool({ ...config, max, idleTimeoutMillis: 60_000, allowExitOnIdle: true });
		// An idle connection was lost: the next statement gets another one.
		pool.on("error", (error) =>
			log.info("a connection to the database was lost", { database, cause: errorText(error) }),
		);
		return pool;
	};
	const urgent = create(1);
	let usual = create(poolSize);
	const all = [urgent, usual];
	return {
		usual: () => usual,
		urgent,
		createClient: () => new Client(config),
		renew(pool) {
			if (usual !== pool) return;
			log.info("the connections to the database are renewed", { database });
			usual = create(poolSize);
			all.push(usual);
		},
		async close() {
			await Promise.all(all.map((pool) => pool.end()));
		},
	};
}

function toConfig(options: DatabaseOptions): ClientConfig {
	const { address, readPassword, connectTimeout, queryTimeout } = options;
	const password = readPassword ?? address.password;
	return {
		host: address.host,
		port: address.port,
		database: address.database,
		...(address.user === null ? {} : { user: address.user }),
		...(password === null ? {} : { password }),
		ssl: toTls(options) ?? false,
		application_name: "agentwire",
		keepAlive: true,
		keepAliveInitialDelayMillis: keepAliveDelay,
		connectionTimeoutMillis: connectTimeout ?? defaultConnectTimeout,
		// The client's timeout: a pooling proxy refuses connections that set the server's.
		query_timeout: queryTimeout ?? defaultQueryTimeout,
	};
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
