// A real PostgreSQL for tests: a cluster in a temporary directory, run by an unprivileged user, on a port of its own.
import { execFile, spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { appendFile, chmod, chown, mkdir, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);
const debianHome = "/usr/lib/postgresql";

/** The directory of the server's programs, the newest version; null where there is none. */
export function findPostgres(): string | null {
	const versions = existsSync(debianHome) ? readdirSync(debianHome) : [];
	const homes = versions
		.sort((one, other) => Number(other) - Number(one))
		.map((version) => path.join(debianHome, version, "bin"));
	const onPath = (process.env["PATH"] ?? "").split(path.delimiter).filter((each) => each !== "");
	return [...homes, ...onPath].find((home) => existsSync(path.join(home, "initdb"))) ?? null;
}

export interface PostgresServer {
	/** Of the database `postgres`. */
	readonly url: string;
	readonly port: number;
	/** Kills it, as a loss of power would end it but for the page cache. */
	kill(): Promise<void>;
	/** Ends it without closing anything, as `pg_ctl stop -m immediate`. */
	crash(): Promise<void>;
	start(): Promise<void>;
	/** Ends it and removes everything. */
	remove(): Promise<void>;
}

/** Whom the server runs as: it refuses to be run by root. */
async function findUser(): Promise<{ readonly uid: number; readonly gid: number } | null> {
	if (userInfo().uid !== 0) return null;
	const idOf = async (flag: string) => Number((await run("id", [flag, "postgres"])).stdout);
	return { uid: await idOf("-u"), gid: await idOf("-g") };
}

/** A port that is free now. */
export async function findPort(): Promise<number> {
	const server = createServer();
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const address = server.address();
	await new Promise((resolve) => server.close(resolve));
	if (address === null || typeof address === "string") throw new Error("no port");
	return address.port;
}

/** `isDurable` for tests that kill it: without, nothing waits for the disk. */
export async function startPostgres({ isDurable = false } = {}): Promise<PostgresServer> {
	const home = findPostgres();
	if (home === null) throw new Error("There is no PostgreSQL: install Debian's package postgresql.");
	const user = await findUser();
	const root = await mkdtemp(path.join(tmpdir(), "agentwire-postgres-"));
	const data = path.join(root, "data");
	await chmod(root, 0o755);
	await mkdir(data, { mode: 0o700 });
	if (user !== null) await chown(data, user.uid, user.gid);
	const identity = { ...(user ?? {}), cwd: root };
	const environment = { PATH: process.env["PATH"] ?? "", LC_ALL: "C" };
	await run(
		path.join(home, "initdb"),
		["-D", data, "-U", "agentwire", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync"],
		{ ...identity, env: environment },
	);
	const port = await findPort();
	const settings = [
		`port = ${port}`,
		"listen_addresses = '127.0.0.1'",
		"unix_socket_directories = ''",
		"max_connections = 500",
		"shared_buffers = 64MB",
		"log_min_messages = fatal",
		...(isDurable ? [] : ["fsync = off", "synchronous_commit = off", "full_page_writes = off"]),
	];
	await appendFile(path.join(data, "postgresql.conf"), `${settings.join("\n")}\n`);
	const url = `postgresql://agentwire@127.0.0.1:${port}/postgres`;
	let child: ReturnType<typeof spawn> | null = null;
	let ended: Promise<unknown> = Promise.resolve();

	/** Why it did not start; null once it answers. */
	const tryToStart = async (): Promise<string | null> => {
		const started = spawn(path.join(home, "postgres"), ["-D", data], {
			...identity,
			env: environment,
			stdio: ["ignore", "ignore", "pipe"],
		});
		let said = "";
		started.stderr?.on("data", (bytes: Buffer) => {
			said = `${said}${bytes.toString()}`.slice(-4000);
		});
		child = started;
		ended = new Promise((resolve) => started.once("exit", resolve));
		for (let attempt = 0; attempt < 600; attempt += 1) {
			if (started.exitCode !== null) return said;
			const isReady = await run(path.join(home, "pg_isready"), ["-q", "-h", "127.0.0.1", "-p", String(port)]).then(
				() => true,
				() => false,
			);
			if (isReady) return null;
			await wait(50);
		}
		return `it does not answer. ${said}`;
	};
	const start = async (): Promise<void> => {
		for (let attempt = 1; ; attempt += 1) {
			const failure = await tryToStart();
			if (failure === null) return;
			// Processes of one that was killed have its memory for a moment.
			if (attempt === 50) throw new Error(`PostgreSQL did not start: ${failure}`);
			await wait(100);
		}
	};
	const end = async (signal: NodeJS.Signals): Promise<void> => {
		child?.kill(signal);
		await ended;
	};
	await start();
	return {
		url,
		port,
		kill: () => end("SIGKILL"),
		crash: () => end("SIGQUIT"),
		start,
		async remove() {
			await end("SIGQUIT");
			await rm(root, { recursive: true, force: true });
		},
	};
}
