// The built executable as campaigns run it: a folder of its own for one, lines in and out, and how it ended.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { createLineSplitter } from "../../../src/base/text/lines.ts";
import { settingsOf } from "./life.ts";

export const builtExecutable =
	process.env["AGENTWIRE_EXECUTABLE"] ?? fileURLToPath(new URL("../../../bin/agentwire", import.meta.url));

/** Where processes live: a temporary folder with a work dir, a share directory and the files of the scripted models. */
export interface Place {
	readonly root: string;
	readonly shareDir: string;
	readonly workDir: string;
	readonly executable: string;
}

export async function createPlace(executable = builtExecutable): Promise<Place> {
	const root = await mkdtemp(path.join(tmpdir(), "agentwire-campaign-"));
	const place = { root, shareDir: path.join(root, "share"), workDir: path.join(root, "work"), executable };
	await mkdir(place.workDir);
	return place;
}

export async function removePlace({ root }: Place): Promise<void> {
	await rm(root, { recursive: true, force: true, maxRetries: 5 });
}

/** Settings in which every name is a scripted model with these answers; the first is the default. Gives the file. */
export async function writeSettings(
	{ root }: Place,
	name: string,
	scripts: Readonly<Record<string, readonly string[]>>,
	agentwire: object = {},
): Promise<string> {
	const fileOf = (model: string): string => path.join(root, `${name}-${model}.json`);
	for (const [model, answers] of Object.entries(scripts)) await writeFile(fileOf(model), JSON.stringify(answers));
	const configFile = path.join(root, `${name}.json`);
	await writeFile(configFile, JSON.stringify(settingsOf(scripts, fileOf, agentwire)));
	return configFile;
}

export interface RunningExecutable {
	write(bytes: string | Buffer): Promise<void>;
	/** The next line; null once its output has ended. */
	read(): Promise<string | null>;
	/** Ends its input. */
	end(): void;
	kill(signal?: NodeJS.Signals): void;
	readonly pid: number;
	/** Resolves with the first line, or the end. */
	readonly first: Promise<void>;
	/** The exit code or signal. */
	readonly exited: Promise<string>;
	/** What it said on stderr so far. */
	complaints(): string;
}

export function startExecutable(
	{ root, shareDir, workDir, executable }: Place,
	argv: readonly string[],
	environment: Readonly<Record<string, string>> = {},
): RunningExecutable {
	const child: ChildProcessWithoutNullStreams = spawn(executable, [...argv, "--work-dir", workDir], {
		cwd: workDir,
		env: { PATH: process.env["PATH"] ?? "", HOME: root, KIMI_SHARE_DIR: shareDir, ...environment },
	});
	let complaints = "";
	child.stderr.setEncoding("utf8").on("data", (text: string) => {
		if (complaints.length < 100_000) complaints += text;
	});
	child.stdin.on("error", () => {});
	const splitter = createLineSplitter(Number.MAX_SAFE_INTEGER);
	const lines: (string | null)[] = [];
	const waiters: ((line: string | null) => void)[] = [];
	let begin = (): void => {};
	const first = new Promise<void>((resolve) => {
		begin = resolve;
	});
	const take = (line: string | null): void => {
		begin();
		const waiter = waiters.shift();
		// The end stays the end, however often it is read.
		if (waiter === undefined || line === null) lines.push(line);
		waiter?.(line);
	};
	child.stdout.on("data", (bytes: Buffer) => {
		for (const line of splitter.push(bytes)) take(line.kind === "line" ? line.text : "");
	});
	child.stdout.on("close", () => take(null));
	return {
		first,
		exited: new Promise((resolve) => child.once("close", (code, signal) => resolve(`${code ?? signal}`))),
		write: (bytes) => new Promise((resolve) => child.stdin.write(bytes, () => resolve())),
		async read() {
			const [line] = lines;
			if (line === undefined) return await new Promise((resolve) => waiters.push(resolve));
			if (line !== null) lines.shift();
			return line;
		},
		end: () => void child.stdin.end(),
		kill: (signal = "SIGKILL") => void child.kill(signal),
		pid: child.pid ?? 0,
		complaints: () => complaints,
	};
}
