import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { type Clock, sleep } from "../../base/clock.ts";
import { createDeferred } from "../../base/deferred.ts";
import { createPace } from "../../base/pace.ts";
import { createLineSplitter, type Line } from "../../base/text/lines.ts";
import type { ChildInput, ChildStdio, Processes, RunOutcome, RunRequest } from "../../ports/processes/port.ts";
import { readIncoming } from "./messages/incoming-message.ts";
import { OpenRequests } from "./messages/open-requests.ts";
import type { ServerLog } from "./server-log.ts";

const messageLimit = 100 * 1024 * 1024;
/** Milliseconds for a program to exit after its stdin is closed. */
const farewell = 200;

export interface ChildTransportSettings {
	readonly request: Pick<RunRequest, "file" | "arguments" | "workDir" | "environment">;
	readonly processes: Processes;
	readonly clock: Clock;
	readonly log: ServerLog;
}

/** Starts the program immediately. Closing ends it and all its child processes. */
export class ChildTransport implements Transport {
	onclose?: () => void;
	onerror?: (error: Error) => void;
	onmessage?: (message: JSONRPCMessage) => void;
	readonly #clock: Clock;
	readonly #log: ServerLog;
	readonly #splitter = createLineSplitter(messageLimit);
	readonly #pace = createPace();
	readonly #open = new OpenRequests();
	readonly #end = new AbortController();
	readonly #started = createDeferred<void>();
	/** Resolves when the program has exited and its output has been read. */
	readonly #gone: Promise<void>;
	readonly #exited = new AbortController();
	#input: ChildInput | null = null;
	#isClosed = false;
	#reason: string | null = null;
	readonly #unread: (readonly Line[])[] = [];
	#isReading = false;
	#reading = Promise.resolve();

	constructor({ request, processes, clock, log }: ChildTransportSettings) {
		this.#clock = clock;
		this.#log = log;
		const conversation: ChildStdio = {
			begin: (stdin) => {
				this.#input = stdin;
				this.#started.resolve();
			},
			hear: (source, bytes) => (source === "output" ? this.#receive(this.#splitter.push(bytes)) : log.hear(bytes)),
		};
		const run = processes.run({ ...request, outputLimit: 0, conversation }, this.#end.signal);
		this.#gone = run.then(async ({ ended }) => {
			this.#exited.abort();
			await this.#receive(this.#splitter.end());
			this.#finish(describeEnd(ended, log.end()));
		});
	}

	/** Why it closed unexpectedly, as a clause. Null while open, and after `close`. */
	reason(): string | null {
		return this.#reason;
	}

	async start(): Promise<void> {
		await Promise.race([this.#started.promise, this.#gone]);
		if (this.#isClosed) throw this.#closed();
	}

	async send(message: JSONRPCMessage): Promise<void> {
		if (this.#input === null || this.#isClosed) throw this.#closed();
		this.#open.sent(message);
		try {
			await this.#input.write(`${JSON.stringify(message)}\n`);
		} catch (thrown) {
			// A program that stops reading is usually about to exit, and its exit is the better reason.
			await sleep(this.#clock, farewell, this.#exited.signal);
			throw this.#isClosed ? this.#closed() : thrown;
		}
	}

	async close(): Promise<void> {
		this.#finish(null);
		this.#input?.close();
		if (this.#input !== null) await sleep(this.#clock, farewell, this.#exited.signal);
		this.#end.abort();
		await this.#gone;
	}

	#closed(): Error {
		return new Error(this.#reason ?? "the connection is closed");
	}

	#finish(why: string | null): void {
		if (this.#isClosed) return;
		this.#isClosed = true;
		this.#reason = why;
		this.onclose?.();
	}

	/** Returns a promise while earlier lines are being read; the program's output is paused until then. */
	#receive(lines: readonly Line[]): Promise<void> | undefined {
		this.#unread.push(lines);
		if (!this.#isReading) this.#reading = this.#readAll();
		return this.#isReading ? this.#reading : undefined;
	}

	async #readAll(): Promise<void> {
		this.#isReading = true;
		for (let lines = this.#unread.shift(); lines !== undefined; lines = this.#unread.shift()) {
			for (const line of lines) {
				this.#read(line);
				const turn = this.#pace.rest();
				if (turn !== undefined) await turn;
			}
		}
		this.#isReading = false;
	}

	#read(line: Line): void {
		if (this.#isClosed) return;
		if (line.kind === "oversized") {
			this.onerror?.(new Error("A message is too long."));
			this.#finish(`it sent a message of more than ${messageLimit / 1024 / 1024} MiB`);
			void this.close();
			return;
		}
		const incoming = readIncoming(line.text, this.#open);
		if (incoming === null) {
			this.#log.note("stdout", line.text);
			return;
		}
		// The program may exit before it gets the reply.
		for (const reply of incoming.replies) this.send(reply).catch(() => {});
		for (const message of incoming.messages) this.onmessage?.(message);
	}
}

function describeEnd(ended: RunOutcome["ended"], lastLine: string): string {
	const said = lastLine === "" ? "" : `; its last output: ${lastLine.replace(/\.$/, "")}`;
	switch (ended.kind) {
		case "not-started":
			return `it could not be started: ${ended.reason}`;
		case "exited":
			return `it exited with code ${ended.exitCode}${said}`;
		case "signalled":
			return `it was ended by ${ended.signal}${said}`;
		case "timed-out":
		case "aborted":
			return "it was ended";
	}
}
