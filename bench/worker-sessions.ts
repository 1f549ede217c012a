// Measures a worker that has many sessions open which nobody uses: its memory, and what they cost the database.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { systemClock } from "../src/base/clock.ts";
import { isRecord } from "../src/base/json.ts";
import { silentLog } from "../src/base/log.ts";
import { createDatabase, type Database } from "../src/ports/store/postgres/database.ts";
import { parseDatabaseUrl } from "../src/ports/store/postgres/database-address.ts";
import { GatewayRequests } from "../test/support/gateway/gateway-requests.ts";
import { readTokens } from "../test/support/gateway/token-file.ts";
import { residentMemory, type Target } from "./child.ts";
import { inParallel } from "./parallel.ts";

export const openSessions = 2000;
const atOnce = 20;
/** Milliseconds over which the statements of an idle cluster are counted. */
const idleSpan = 20_000;
/** Milliseconds until idle connections have reported what they did, and until those that are not needed have ended. */
const reportSpan = 12_000;
const connectionSpan = 65_000;

export interface WorkerMeasurement {
	/** Bytes that a further idle session adds to the worker; null where the system does not report memory. */
	readonly memory: number | null;
	/** Bytes of the tables with their indexes, for each session. */
	readonly stored: number;
	/** Connections of the worker and a gateway, when they have been idle for a minute. */
	readonly connections: number;
	/** Statements per minute of both, without sessions and with all of them. */
	readonly statements: { readonly before: number; readonly after: number };
	/** Sessions per second that were made and had a short turn. */
	readonly madePerSecond: number;
}

export async function measureWorker(
	target: Target,
	workDir: string,
	folder: string,
	url: string,
): Promise<WorkerMeasurement> {
	const schema = "bench_worker";
	const settings = path.join(folder, "worker-settings.json");
	writeFileSync(settings, JSON.stringify(settingsOf(schema)));
	const running: ChildProcess[] = [];
	const database = createDatabase({
		address: parseDatabaseUrl(url),
		schema,
		poolSize: 1,
		log: silentLog,
		clock: systemClock,
	});
	const start = async (...words: readonly string[]) => {
		const [file = "", ...rest] = target.command;
		const argv = [...rest, ...words, "--json", "--config-file", settings, "--work-dir", workDir];
		const child = spawn(file, argv, {
			env: { ...target.environment, AGENTWIRE_STORE_URL: url },
			stdio: ["ignore", "pipe", "inherit"],
		});
		running.push(child);
		const [line] = await once(createInterface({ input: child.stdout }), "line");
		const ready: { readonly url?: string } = JSON.parse(String(line));
		return { child, port: ready.url === undefined ? 0 : Number(new URL(ready.url).port) };
	};
	try {
		const worker = await start("worker", "--sessions", String(openSessions + 1));
		const gateway = await start("serve", "--port", "0");
		const tokens = readTokens(path.join(target.environment["KIMI_SHARE_DIR"] ?? "", "gateway.json"));
		const client = new GatewayRequests(gateway.port, tokens.control ?? "");
		await wait(reportSpan);
		const before = await countStatements(database);
		const make = async () => {
			const sessionId = await client.createSession();
			await client.result("turn.start", { sessionId, input: "text: hello", key: "first" });
		};
		const startedAt = performance.now();
		await inParallel(openSessions / 2, atOnce, make);
		await settled(database);
		const half = residentMemory(worker.child);
		await inParallel(openSessions / 2, atOnce, make);
		await settled(database);
		const seconds = (performance.now() - startedAt) / 1000;
		const whole = residentMemory(worker.child);
		const loaded = await client.call("sessions.loaded");
		const count = isRecord(loaded) && Array.isArray(loaded["result"]) ? loaded["result"].length : 0;
		if (count !== openSessions) throw new Error(`The worker has ${count} sessions open, not ${openSessions}.`);
		await wait(connectionSpan);
		const after = await countStatements(database);
		return {
			memory: half === null || whole === null ? null : (whole - half) / (openSessions / 2),
			stored: (await sizeOf(database)) / openSessions,
			connections: await countConnections(database),
			statements: { before, after },
			madePerSecond: openSessions / seconds,
		};
	} finally {
		for (const child of running) child.kill("SIGKILL");
		await database.query(`drop schema if exists ${database.schema} cascade`);
		await database.close();
	}
}

function settingsOf(schema: string): object {
	return {
		default_model: "quick",
		store: { type: "postgres", schema },
		providers: { p: { type: "_echo", base_url: "", api_key: "" } },
		models: { quick: { provider: "p", model: "echo", max_context_size: 100_000 } },
		agentwire: { contain: "off", limits: { loaded_sessions: openSessions + 1, unload_after: 0 } },
	};
}

/** Resolves once no turn runs. */
async function settled(database: Database): Promise<void> {
	const isRunning = `select 1 from ${database.schema}.session where running_turn is not null limit 1`;
	while ((await database.query(isRunning)).length > 0) await wait(100);
}

/** Statements per minute, each of which is a transaction, but for those of this function; connections were idle for a while before. */
async function countStatements(database: Database): Promise<number> {
	const read = async () => {
		const [row] = await database.query(
			"select xact_commit + xact_rollback as done from pg_stat_database where datname = current_database()",
		);
		return Number(row?.["done"]);
	};
	const before = await read();
	await wait(idleSpan);
	return ((await read()) - before - 1) * (60_000 / idleSpan);
}

async function countConnections(database: Database): Promise<number> {
	const [row] = await database.query(
		`select count(*) as connections from pg_stat_activity where application_name = 'agentwire' and pid <> pg_backend_pid()`,
	);
	return Number(row?.["connections"]);
}

async function sizeOf(database: Database): Promise<number> {
	const [row] = await database.query(
		`select sum(pg_total_relation_size(c.oid)) as size from pg_class c join pg_namespace n on n.oid = c.relnamespace
		where '"' || n.nspname || '"' = $1 and c.relkind = 'r'`,
		[database.schema],
	);
	return Number(row?.["size"]);
}
