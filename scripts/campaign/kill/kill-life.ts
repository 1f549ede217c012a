// One life of the real executable for the kill campaign: started on a session, played to by a client, and killed or let
// end. Judges nothing.
import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { play } from "../crash/crash-client.ts";
import type { LifeScript } from "../crash/crash-scenarios.ts";

/** Milliseconds after which a server that does not answer counts as hung. */
const patience = 15_000;

export const sessionId = (index: number): string => `00000000-0000-4000-8000-00000000000${index}`;

export interface Place {
	readonly root: string;
	readonly shareDir: string;
	readonly workDir: string;
	readonly executable: string;
}

export interface ProcessLife {
	readonly delivered: readonly string[];
	readonly completed: boolean;
	/** Milliseconds from the first line to the end of the script. */
	readonly duration: number;
	/** What stderr said when a server that was not killed did not play its script to the end. */
	readonly complaints: string;
}

/** A server's lines as they come; null once its output has ended. */
export function createLineReader(stdout: NodeJS.ReadableStream): {
	read(): Promise<string | null>;
	readonly first: Promise<void>;
} {
	const lines: string[] = [];
	let rest = "";
	let ended = false;
	let wake = (): void => {};
	let begin = (): void => {};
	const first = new Promise<void>((resolve) => {
		begin = resolve;
	});
	stdout.setEncoding("utf8");
	stdout.on("data", (text: string) => {
		const pieces = (rest + text).split("\n");
		rest = pieces.pop() ?? "";
		lines.push(...pieces);
		begin();
		wake();
	});
	stdout.on("close", () => {
		ended = true;
		begin();
		wake();
	});
	return {
		first,
		async read() {
			while (lines.length === 0 && !ended) {
				await new Promise<void>((resolve) => {
					wake = resolve;
				});
			}
			return lines.shift() ?? null;
		},
	};
}

/** Runs the executable for one life; with `killAfter` it is killed that many milliseconds after its first line. */
export async function liveInProcess(
	place: Place,
	script: LifeScript,
	index: number,
	killAfter: number | null,
): Promise<ProcessLife> {
	const scriptFile = path.join(place.root, `scripts-${index}.json`);
	const configFile = path.join(place.root, `config-${index}.json`);
	await writeFile(scriptFile, JSON.stringify(script.model));
	const settings = {
		default_model: "m",
		models: { m: { provider: "p", model: "scripted_echo", max_context_size: 100_000 } },
		providers: {
			p: { type: "_scripted_echo", base_url: "", api_key: "", env: { KIMI_SCRIPTED_ECHO_SCRIPTS: scriptFile } },
		},
	};
	await writeFile(configFile, JSON.stringify(settings));
	const argv = ["--work-dir", place.workDir, "--config-file", configFile, "--session", sessionId(index)];
	const { PATH = "" } = process.env;
	const child = spawn(place.executable, argv, {
		cwd: place.workDir,
		env: { PATH, HOME: place.root, KIMI_SHARE_DIR: place.shareDir },
		stdio: ["pipe", "pipe", "pipe"],
	});
	let complaints = "";
	child.stderr.setEncoding("utf8").on("data", (text: string) => {
		complaints += text;
	});
	const exited = new Promise<void>((resolve) => child.once("close", () => resolve()));
	child.stdin.on("error", () => {});
	const kill = (): void => void child.kill("SIGKILL");
	const hung = setTimeout(kill, patience);
	const reader = createLineReader(child.stdout);
	const delivered: string[] = [];
	let begun = performance.now();
	let killing: NodeJS.Timeout | undefined;
	void reader.first.then(() => {
		begun = performance.now();
		if (killAfter !== null) killing = setTimeout(kill, killAfter);
	});
	const read = async (): Promise<string | null> => {
		const line = await reader.read();
		if (line !== null) delivered.push(line);
		return line;
	};
	const completed = await play(script, { write: (line) => void child.stdin.write(line), read });
	const duration = performance.now() - begun;
	if (killAfter === null) child.stdin.end();
	while ((await read()) !== null) {
		// What was written before the end was received, wherever the script ended.
	}
	await exited;
	clearTimeout(hung);
	clearTimeout(killing);
	return { delivered, completed, duration, complaints: killAfter === null && !completed ? complaints : "" };
}
