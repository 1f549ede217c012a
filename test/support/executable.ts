// Runs the built executable as a client does: a share directory, a work directory and a scripted model in a
// temporary folder, lines in and out. Everything it started and made is gone when the test ends.
import { type ChildProcessWithoutNullStreams, execFile, spawn } from "node:child_process";
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

/** `AGENTWIRE_EXECUTABLE` names another build to test. */
export const executablePath =
	process.env["AGENTWIRE_EXECUTABLE"] ?? fileURLToPath(new URL("../../bin/agentwire", import.meta.url));

/** A line of the server's, as far as tests look into it. */
export interface ServerLine {
	readonly id?: string | null;
	readonly method?: "event" | "request";
	readonly params?: { readonly type: string; readonly payload: Record<string, unknown> };
	readonly result?: Record<string, unknown>;
	readonly error?: { readonly code: number; readonly message: string; readonly data: unknown };
}

export interface StageOptions {
	/** One script of the scripted model for each of its requests. */
	readonly scripts?: readonly string[];
	/** Merged into the settings of the model, of `config.toml` and of `configText` alike. */
	readonly modelSettings?: Readonly<Record<string, unknown>>;
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
	/** Runs the executable, its stdin being `/dev/null`, to its end. */
	run(...argv: string[]): Promise<Finished>;
	/** Commands of the living processes of the stage. Linux only. */
	commands(): string[];
}

/** Sets the stage for the running test and clears it afterwards. */
export function createStage({ scripts = ["text: done"], modelSettings = {} }: StageOptions = {}): Stage {
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
	writeFileSync(
		path.join(shareDir, "config.toml"),
		`default_model = "m"\n\n[models.m]\n${toml(model)}\n[providers.p]\n${toml(provider)}`,
	);
	const mark = randomUUID();
	const environment = {
		...inheritedVariables(),
		KIMI_SHARE_DIR: shareDir,
		XDG_CACHE_HOME: path.join(root, "cache"),
		AGENTWIRE_STAGE: mark,
	};
	const sessionsDir = path.join(shareDir, "sessions", createHash("md5").update(workDir).digest("hex"));
	const servers: Server[] = [];

	const stage: Stage = {
		shareDir,
		workDir,
		environment,
		configText: JSON.stringify({ default_model: "m", models: { m: model }, providers: { p: provider } }),
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
		serve(...flags) {
			const child = spawn(executablePath, ["--work-dir", workDir, ...flags], { cwd: workDir, env: environment });
			const server = new Server(child);
			servers.push(server);
			return server;
		},
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

/** A running server and the client's end of its streams. */
export class Server {
	readonly pid: number;
	/** Resolves with the exit code; null when a signal ended it. */
	readonly exited: Promise<number | null>;
	stderr = "";
	readonly #child: ChildProcessWithoutNullStreams;
	#rest: Buffer[] = [];
	#lines: ServerLine[] = [];
	#ended = false;
	#wake: () => void = () => {};

	constructor(child: ChildProcessWithoutNullStreams) {
		this.#child = child;
		this.pid = child.pid ?? 0;
		this.exited = new Promise((resolve, reject) => {
			child.once("close", (code) => resolve(code));
			child.once("error", reject);
		});
		child.stdin.on("error", () => {});
		child.stdout.on("data", (bytes: Buffer) => this.#take(bytes));
		child.stdout.on("close", () => {
			this.#ended = true;
			this.#wake();
		});
		child.stderr.setEncoding("utf8").on("data", (text: string) => {
			this.stderr += text;
		});
	}

	/** Sends bytes as they are. */
	write(bytes: string | Buffer): void {
		this.#child.stdin.write(bytes);
	}

	request(id: string, method: string, params?: unknown): void {
		this.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) })}\n`);
	}

	initialize(version = "1.10"): void {
		this.request("initialize", "initialize", { protocol_version: version });
	}

	prompt(text: string, id = "prompt"): void {
		this.request(id, "prompt", { user_input: text });
	}

	answer(id: string, result: unknown): void {
		this.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
	}

	decide(request: ServerLine, response: "approve" | "approve_for_session" | "reject"): void {
		const id = request.id ?? "";
		this.answer(id, { request_id: id, response });
	}

	/** The next line; null when the server has closed its output. Throws on a line that is no JSON. */
	async read(): Promise<ServerLine | null> {
		for (;;) {
			const line = this.#lines.shift();
			if (line !== undefined) return line;
			if (this.#ended) return null;
			await new Promise<void>((resolve) => {
				this.#wake = resolve;
			});
		}
	}

	/** The lines up to and with the first that fits. Throws when the output ends before. */
	async readUntil(fits: (line: ServerLine) => boolean): Promise<ServerLine[]> {
		const lines: ServerLine[] = [];
		for (;;) {
			const line = await this.read();
			if (line === null) throw new Error(`The output ended behind ${JSON.stringify(lines.slice(-3))}\n${this.stderr}`);
			lines.push(line);
			if (fits(line)) return lines;
		}
	}

	/** Reads up to the answer to a request and gives it. */
	async response(id: string): Promise<ServerLine> {
		return lastOf(await this.readUntil((line) => isResponse(line, id)));
	}

	/** Reads up to a message of this type and gives it. */
	async message(type: string): Promise<ServerLine> {
		return lastOf(await this.readUntil((line) => line.params?.type === type));
	}

	/** Everything until the server closes its output. */
	async readAll(): Promise<ServerLine[]> {
		const lines: ServerLine[] = [];
		for (let line = await this.read(); line !== null; line = await this.read()) lines.push(line);
		return lines;
	}

	pause(): void {
		this.#child.stdout.pause();
	}

	resume(): void {
		this.#child.stdout.resume();
	}

	endInput(): void {
		this.#child.stdin.end();
	}

	/** Closes the client's end of the server's stdout. */
	closeOutput(): void {
		this.#child.stdout.destroy();
	}

	kill(signal: NodeJS.Signals): void {
		this.#child.kill(signal);
	}

	/** Splits on the newline byte only and reads each line as JSON. */
	#take(bytes: Buffer): void {
		let start = 0;
		for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
			const line = Buffer.concat([...this.#rest, bytes.subarray(start, end)]).toString("utf8");
			this.#rest = [];
			this.#lines.push(JSON.parse(line));
			start = end + 1;
		}
		if (start < bytes.length) this.#rest.push(bytes.subarray(start));
		this.#wake();
	}
}

export function isResponse(line: ServerLine, id: string): boolean {
	return line.id === id && line.method === undefined;
}

/** Each line as a word: the type of a message, the status of a result, the code of an error. */
export function outline(lines: readonly ServerLine[]): string[] {
	return lines.map(({ params, result, error }) => {
		if (params !== undefined) return params.type;
		return error === undefined ? String(result?.["status"] ?? "result") : String(error.code);
	});
}

export function lastOf<T>(items: readonly T[]): T {
	const last = items.at(-1);
	if (last === undefined) throw new Error("There is no last one.");
	return last;
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
				entry[1] !== undefined && !/^(KIMI_|AGENTWIRE_|VITEST|NODE_OPTIONS)/.test(entry[0]),
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
