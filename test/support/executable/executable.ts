// Runs the built executable as a client does: a share directory, a work directory and a scripted model in a
// temporary folder, lines in and out. Everything it started and made is gone when the test ends.
import { execFile, execFileSync, spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import {
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	realpathSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { Server } from "./running-server.ts";

/** `AGENTWIRE_EXECUTABLE` names another build to test. */
export const executablePath =
	process.env["AGENTWIRE_EXECUTABLE"] ?? fileURLToPath(new URL("../../../bin/agentwire", import.meta.url));

/**
 * Whether the executable under test is run by Bun. Where Bun itself differs from Node, in ways that the program cannot
 * mend, docs/start/install.md says so, and tests ask for this.
 */
export const runsOnBun: boolean =
	process.env["AGENTWIRE_EXECUTABLE"] !== undefined &&
	execFileSync(executablePath, ["info", "--json"], { encoding: "utf8" }).includes('"runtime":"bun"');

/** Where processes find their compiled code: most of a start is compiling. Absent where no test made it. */
export const sharedCodeCache = process.env["AGENTWIRE_CODE_CACHE"];

export interface StageOptions {
	/** One script of the scripted model for each of its requests. */
	readonly scripts?: readonly string[];
	/** Merged into the settings of the model, of `config.toml` and of `configText` alike. */
	readonly modelSettings?: Readonly<Record<string, unknown>>;
	/** Begins without compiled code, as after an installation. */
	readonly isFirstStart?: boolean;
}

/** Variables with which a file is loaded before the program, whichever runtime runs it. */
export function preloading(file: string): Record<string, string> {
	return { NODE_OPTIONS: `--require ${file}`, BUN_OPTIONS: `--preload ${file}` };
}

/** A finished process. */
export interface Finished {
	readonly code: number | null;
	readonly stdout: string;
	readonly stderr: string;
}

/** The folder and the settings that servers of one test share. */
export interface Stage {
	readonly shareDir: string;
	readonly workDir: string;
	/** What every process of the stage has in its environment, children of its tools included. */
	readonly environment: Readonly<Record<string, string>>;
	/** The settings as JSON for `--config`; `config.toml` of the share directory says the same. */
	readonly configText: string;
	/** The directory of a session, whether or not it exists. */
	sessionDir(sessionId: string): string;
	/** Ids of the sessions of the work dir. */
	sessionIds(): string[];
	/** The types of the messages in a session's log. */
	loggedTypes(sessionId: string): string[];
	lastSessionId(): string | null;
	setScripts(scripts: readonly string[]): void;
	/** Starts a server in the work dir. */
	serve(...flags: string[]): Server;
	/** The same, with further variables in its environment. */
	serveWith(variables: Readonly<Record<string, string>>, ...flags: string[]): Server;
	/** Starts a server under another name, with these flags and no others, in the work dir. */
	serveAs(executable: string, ...flags: string[]): Server;
	/** Runs the executable, its stdin being `/dev/null`, to its end. */
	run(...argv: string[]): Promise<Finished>;
	/** Commands of the living processes of the stage. Linux only. */
	commands(): string[];
}

/** The database that has the sessions of all stages, each in a schema of its own; undefined for files. */
export const databaseUrl = process.env["AGENTWIRE_TEST_DATABASE"];

/** Sets the stage for the running test and clears it afterwards. */
export function createStage(options: StageOptions = {}): Stage {
	const { scripts = ["text: done"], modelSettings = {}, isFirstStart = false } = options;
	const root = realpathSync(mkdtempSync(path.join(tmpdir(), "agentwire-e2e-")));
	const shareDir = path.join(root, "share");
	const workDir = path.join(root, "work");
	const scriptFile = path.join(root, "scripts.json");
	for (const directory of [shareDir, workDir]) mkdirSync(directory);
	const model = { provider: "p", model: "scripted_echo", max_context_size: 100_000, ...modelSettings };
	const provider = {
		type: "_scripted_echo",
		base_url: "",
		api_key: "",
		env: { KIMI_SCRIPTED_ECHO_SCRIPTS: scriptFile },
	};
	const toml = (table: object) =>
		Object.entries(table)
			.map(([key, value]) => `${key} = ${JSON.stringify(value).replace(/^\{(".*?"):/, "{$1 = ")}\n`)
			.join("");
	const mark = randomUUID();
	const store =
		databaseUrl === undefined
			? null
			: { type: "postgres", url: databaseUrl, schema: `stage_${mark.replaceAll("-", "")}` };
	writeFileSync(
		path.join(shareDir, "config.toml"),
		`default_model = "m"\n\n[models.m]\n${toml(model)}\n[providers.p]\n${toml(provider)}${store === null ? "" : `\n[store]\n${toml(store)}`}`,
	);
	const environment = {
		...inheritedVariables(),
		KIMI_SHARE_DIR: shareDir,
		XDG_CACHE_HOME: (isFirstStart ? undefined : sharedCodeCache) ?? path.join(root, "cache"),
		AGENTWIRE_STAGE: mark,
	};
	const sessionsDir = path.join(shareDir, "sessions", createHash("md5").update(workDir).digest("hex"));
	const servers: Server[] = [];
	const start = (executable: string, env: Readonly<Record<string, string>>, argv: readonly string[]) => {
		const server = new Server(spawn(executable, argv, { cwd: workDir, env }));
		servers.push(server);
		return server;
	};

	const stage: Stage = {
		shareDir,
		workDir,
		environment,
		configText: JSON.stringify({
			default_model: "m",
			models: { m: model },
			providers: { p: provider },
			...(store === null ? {} : { store }),
		}),
		sessionDir: (sessionId) => path.join(sessionsDir, sessionId),
		sessionIds: () => (existsSync(sessionsDir) ? readdirSync(sessionsDir) : []),
		loggedTypes: (sessionId) =>
			readFileSync(path.join(sessionsDir, sessionId, "wire.jsonl"), "utf8")
				.split("\n")
				.flatMap((line) => (line === "" ? [] : (JSON.parse(line).message?.type ?? []))),
		lastSessionId() {
			const file = path.join(shareDir, "kimi.json");
			if (!existsSync(file)) return null;
			const index: { work_dirs: { path: string; last_session_id: string | null }[] } = JSON.parse(
				readFileSync(file, "utf8"),
			);
			return index.work_dirs.find((entry) => entry.path === workDir)?.last_session_id ?? null;
		},
		setScripts: (texts) => writeFileSync(scriptFile, JSON.stringify(texts)),
		serve: (...flags) => stage.serveWith({}, ...flags),
		serveWith: (variables, ...flags) =>
			start(executablePath, { ...environment, ...variables }, ["--work-dir", workDir, ...flags]),
		serveAs: (executable, ...flags) => start(executable, environment, flags),
		run: (...argv) => runExecutable(executablePath, argv, { cwd: workDir, env: environment }),
		commands: () => markedProcesses(mark).map(({ command }) => command),
	};
	stage.setScripts(scripts);
	onTestFinished(async () => {
		for (const server of servers) server.kill("SIGKILL");
		await Promise.all(servers.map((server) => server.exited));
		for (const { pid } of markedProcesses(mark)) killQuietly(pid);
		rmSync(root, { recursive: true, force: true, maxRetries: 5 });
	});
	return stage;
}

/** Runs an executable to its end; its stdin is `/dev/null` unless `input` says otherwise. */
export function runExecutable(
	executable: string,
	argv: readonly string[],
	options: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Finished> {
	return new Promise((resolve) => {
		const child = execFile(executable, argv, { ...options, timeout: 20_000 }, (_error, stdout, stderr) => {
			resolve({ code: child.exitCode, stdout, stderr });
		});
		child.stdin?.end();
	});
}

/** A script line that calls a tool. */
export function toolCall(id: string, name: string, argumentsValue: object): string {
	return `tool_call: ${JSON.stringify({ id, name, arguments: JSON.stringify(argumentsValue) })}`;
}

/** Without what would change the program under test. */
function inheritedVariables(): Record<string, string> {
	return Object.fromEntries(
		Object.entries(process.env).filter(
			(entry): entry is [string, string] =>
				entry[1] !== undefined &&
				!/^(KIMI_|AGENTWIRE_|RKAT_|ANTHROPIC_|OPENAI_|GEMINI_|GOOGLE_|VITEST|NODE_OPTIONS|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE)|_proxy$/i.test(
					entry[0],
				),
		),
	);
}

function markedProcesses(mark: string): { readonly pid: number; readonly command: string }[] {
	if (process.platform !== "linux") return [];
	return readdirSync("/proc").flatMap((name) => {
		if (!/^\d+$/.test(name)) return [];
		try {
			if (!readFileSync(`/proc/${name}/environ`, "utf8").includes(`AGENTWIRE_STAGE=${mark}`)) return [];
			const command = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ").trim();
			// A process that has ended and is only waited for has no command line.
			return command === "" ? [] : [{ pid: Number(name), command }];
		} catch {
			return [];
		}
	});
}

function killQuietly(pid: number): void {
	try {
		process.kill(pid, "SIGKILL");
	} catch {
		// It ended by itself.
	}
}
