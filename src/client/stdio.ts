import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { type ErrorObject, toRefused } from "./error-object.ts";
import { PeerGone } from "./errors.ts";
import type { Operations, PublicEvent, SessionAttachParams, SessionAttachResult } from "./protocol-types.ts";
import type { Attachment, CallName, Transport } from "./transport.ts";

export interface SpawnOptions {
	/** The executable and arguments before the client's own. */
	readonly command: readonly string[];
	/** Flags of the program, such as `["--model", "mine"]`. */
	readonly args?: readonly string[];
	/** The whole environment of the process; default: this process's. */
	readonly env?: Readonly<Record<string, string | undefined>>;
	readonly cwd?: string;
	/** Receives the process's stderr, whose end is also in the error when it dies. */
	readonly onStderr?: (text: string) => void;
	/** Milliseconds until `close` ends the process by a signal. Default: 3000. */
	readonly grace?: number;
}

/** Characters of stderr that an error shows. */
const stderrEnd = 4000;

/** Milliseconds for the remaining output of an ended process. */
const drainTime = 1000;

interface Pending {
	resolve(result: unknown): void;
	reject(error: Error): void;
}

type StreamBatch = { readonly events: readonly PublicEvent[]; readonly ended: boolean };

class StdioTransport implements Transport {
	readonly reconnects = false;
	readonly #child: ChildProcessWithoutNullStreams;
	readonly #grace: number;
	readonly #pending = new Map<number, Pending>();
	readonly #exited: Promise<void>;
	#ids = 0;
	#stderr = "";
	#gone: PeerGone | null = null;
	#isClosing = false;

	constructor(child: ChildProcessWithoutNullStreams, { onStderr, grace = 3000 }: SpawnOptions) {
		this.#child = child;
		this.#grace = grace;
		child.stderr.setEncoding("utf8").on("data", (text: string) => {
			this.#stderr = (this.#stderr + text).slice(-stderrEnd);
			onStderr?.(text);
		});
		readLines(child.stdout, (line) => this.#take(line));
		// Writes after the end of the process fail here; `close` reports the end.
		child.stdin.on("error", () => {});
		this.#exited = new Promise((resolve) => {
			const end = (why: string, exitCode: number | null) => {
				this.#lose(new PeerGone(why, { exitCode, stderr: this.#stderr }));
				resolve();
			};
			const exit = (code: number | null, signal: NodeJS.Signals | null) => {
				const how = code === null ? `was ended by ${signal}` : `exited with code ${code}`;
				end(this.#isClosing ? "The client was closed." : `The program ${how}.`, code);
			};
			child.once("error", (error) => end(`The program could not be started: ${error.message}`, null));
			child.once("close", exit);
			// A child of the process may keep its output open.
			child.once("exit", (code, signal) => setTimeout(exit, drainTime, code, signal).unref());
			child.stdout.once("end", () => {
				setTimeout(end, drainTime, "The program closed its output.", null).unref();
			});
		});
	}

	request<N extends CallName>(name: N, params: Operations[N]["params"]): Promise<Operations[N]["result"]> {
		return this.#send(name, params);
	}

	async attach(params: SessionAttachParams): Promise<Attachment> {
		const { stream, ...state } = await this.#send<SessionAttachResult & { readonly stream: string }>(
			"session.attach",
			params,
		);
		let isClosed = false;
		const end: StreamBatch = { events: [], ended: true };
		const next = async () => {
			if (isClosed) return end;
			try {
				return await this.#send<StreamBatch>("stream.next", { stream });
			} catch (thrown) {
				if (isClosed) return end;
				throw thrown;
			}
		};
		const close = () => {
			isClosed = true;
			this.#send("stream.close", { stream }).catch(() => {});
		};
		return { state, events: pull(next), close };
	}

	async close(): Promise<void> {
		this.#isClosing = true;
		this.#child.stdin.end();
		const timers = [
			setTimeout(() => this.#child.kill("SIGTERM"), this.#grace),
			setTimeout(() => this.#child.kill("SIGKILL"), this.#grace + 2000),
		];
		await this.#exited;
		for (const timer of timers) clearTimeout(timer);
	}

	/** The types are generated from the server's schemas. */
	#send<R>(method: string, params: object): Promise<R> {
		if (this.#gone !== null) return Promise.reject(this.#gone);
		this.#ids += 1;
		const id = this.#ids;
		return new Promise<R>((resolve, reject) => {
			this.#pending.set(id, { resolve: (result) => resolve(result as R), reject });
			this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
		});
	}

	#take(line: string): void {
		const message = parseMessage(line);
		const pending = message === null ? undefined : this.#pending.get(message.id);
		if (message === null || pending === undefined) return;
		this.#pending.delete(message.id);
		if (message.error === undefined) pending.resolve(message.result);
		else pending.reject(toRefused(message.error));
	}

	#lose(gone: PeerGone): void {
		this.#gone ??= gone;
		for (const { reject } of this.#pending.values()) reject(this.#gone);
		this.#pending.clear();
	}
}

interface Answer {
	readonly id: number;
	readonly result?: unknown;
	readonly error?: ErrorObject;
}

function parseMessage(line: string): Answer | null {
	try {
		const value: Answer | null = JSON.parse(line);
		return typeof value?.id === "number" ? value : null;
	} catch {
		return null;
	}
}

async function* pull(next: () => Promise<StreamBatch>): AsyncGenerator<readonly PublicEvent[]> {
	for (;;) {
		const { events, ended } = await next();
		if (events.length > 0) yield events;
		if (ended) return;
	}
}

/** Splits only at line feeds: JSON may contain the other separators. */
function readLines(input: NodeJS.ReadableStream, take: (line: string) => void): void {
	let pieces: string[] = [];
	input.setEncoding("utf8");
	input.on("data", (text: string) => {
		const lines = text.split("\n");
		pieces.push(lines[0] ?? "");
		for (const line of lines.slice(1)) {
			take(pieces.join(""));
			pieces = [line];
		}
	});
}

/** Resolves at once; later failures reject the requests. */
export async function connectStdio(options: SpawnOptions): Promise<Transport> {
	const { spawn } = await import("node:child_process");
	const [file = "agentwire", ...first] = options.command;
	const child = spawn(file, [...first, "serve", "--stdio", ...(options.args ?? [])], {
		stdio: ["pipe", "pipe", "pipe"],
		...(options.env === undefined ? {} : { env: options.env }),
		...(options.cwd === undefined ? {} : { cwd: options.cwd }),
	});
	return new StdioTransport(child, options);
}
