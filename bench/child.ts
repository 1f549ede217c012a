// A measured child process: started, fed, and its raw bytes received without delay, whatever is measured.
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { processTree, readProcess } from "./process-tree.ts";

/** A `--wire` executable to measure: its command line and its environment. */
export interface Target {
	readonly name: string;
	readonly command: readonly [string, ...string[]];
	readonly environment: NodeJS.ProcessEnv;
}

const newline = 0x0a;
const isMac = process.platform === "darwin";

export interface MeasuredChild {
	/** Milliseconds, on the clock of `performance.now()`, just before the process was started. */
	readonly startedAt: number;
	send(method: string, id: string, params: object): void;
	/** Waits for the first line; returns it with its time of arrival. */
	firstLine(): Promise<{ readonly line: string; readonly at: number }>;
	/** Waits for the reply to a request; returns it with its time of arrival and the number of lines up to it. */
	reply(id: string): Promise<{ readonly line: string; readonly at: number; readonly lines: number }>;
	/** Peak memory so far, in bytes; null where it is only reported at the end of the process. */
	peakMemory(): number | null;
	/** Closes the input and waits for the end; returns the peak memory where it is reported then. */
	finish(): Promise<number | null>;
}

export function startChild({ command, environment }: Target, words: readonly string[]): MeasuredChild {
	// Without /proc the operating system reports a child's peak only to `time`.
	const [file, ...rest] = isMac ? (["/usr/bin/time", "-l", ...command] as const) : command;
	const startedAt = performance.now();
	const child = spawn(file ?? "", [...rest, ...words], { env: environment, stdio: "pipe" });
	const errorTail = collectErrors(child);
	const closed = new Promise<void>((resolve) => child.on("close", () => resolve()));
	const failed = new Promise<never>((_resolve, reject) => {
		child.on("error", reject);
		child.on("close", (code) => reject(new Error(`${file} ended early (${code}): ${errorTail().trim()}`)));
	});
	failed.catch(() => {});
	child.stdin.on("error", () => {});

	let lines = 0;
	let head: Buffer = Buffer.alloc(0);
	let tail: Buffer = Buffer.alloc(0);
	let onFirst: ((at: number) => void) | null = null;
	let firstAt: number | null = null;
	let onTail: ((at: number) => void) | null = null;

	child.stdout.on("data", (bytes: Buffer) => {
		const at = performance.now();
		if (firstAt === null) {
			head = Buffer.concat([head, bytes]);
			if (head.includes(newline)) {
				firstAt = at;
				onFirst?.(at);
			}
		}
		for (let from = bytes.indexOf(newline); from !== -1; from = bytes.indexOf(newline, from + 1)) lines += 1;
		// Only what may contain the last line is stored.
		tail = bytes.length >= 8192 ? bytes.subarray(-8192) : Buffer.concat([tail.subarray(-8192), bytes]);
		if (tail.at(-1) === newline) onTail?.(at);
	});

	const lastLine = () => tail.toString("utf8", tail.lastIndexOf(newline, tail.length - 2) + 1, tail.length - 1);
	return {
		startedAt,
		send(method, id, params) {
			child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
		},
		firstLine() {
			const arrived = new Promise<number>((resolve) => {
				if (firstAt === null) onFirst = resolve;
				else resolve(firstAt);
			});
			const found = arrived.then((at) => ({ line: head.toString("utf8", 0, head.indexOf(newline)), at }));
			return Promise.race([found, failed]);
		},
		reply(id) {
			const found = new Promise<{ line: string; at: number; lines: number }>((resolve) => {
				onTail = (at) => {
					const line = lastLine();
					if (isReply(line, id)) resolve({ line, at, lines });
				};
				if (tail.at(-1) === newline) onTail(performance.now());
			});
			return Promise.race([found, failed]);
		},
		peakMemory: () => (child.pid === undefined ? null : mostMemory(child.pid, /^VmHWM:\s+(\d+) kB/m)),
		async finish() {
			child.stdin.end();
			const timer = setTimeout(() => child.kill("SIGKILL"), 5000);
			await closed;
			clearTimeout(timer);
			const delivered = /(\d+)\s+maximum resident set size/.exec(errorTail());
			return delivered === null ? null : Number(delivered[1]);
		},
	};
}

function collectErrors(child: ChildProcessWithoutNullStreams): () => string {
	let text = "";
	child.stderr.on("data", (bytes: Buffer) => {
		text = (text + bytes.toString("utf8", Math.max(0, bytes.length - 4000))).slice(-4000);
	});
	return () => text;
}

/** Nearly all lines are events: they are recognized without parsing. */
function isReply(line: string, id: string): boolean {
	if (line.includes('"method"')) return false;
	const value: unknown = JSON.parse(line);
	return typeof value === "object" && value !== null && "id" in value && value.id === id;
}

/** Bytes of memory that a process has now, the most of its tree; null where the system does not report it. */
export function residentMemory({ pid }: ChildProcess): number | null {
	return pid === undefined ? null : mostMemory(pid, /^VmRSS:\s+(\d+) kB/m);
}

/** The largest among a process and its descendants, in bytes; null where the system reports none. */
function mostMemory(pid: number, field: RegExp): number | null {
	const found = processTree(pid).flatMap((each) => {
		const [, kilobytes] = field.exec(readProcess(each, "status") ?? "") ?? [];
		return kilobytes === undefined ? [] : [Number(kilobytes) * 1024];
	});
	return found.length === 0 ? null : Math.max(...found);
}
