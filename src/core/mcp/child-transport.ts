// The MCP transport over stdin and stdout of a program that it starts. Other output of the program goes to the log.
import type { Transport } from "@modelcontextprotocol/client";
import { type Clock, sleep } from "../../base/clock.ts";
import { createPace } from "../../base/pace.ts";
import { createLineSplitter, type Line } from "../../base/text/lines.ts";
import type { ChildInput, Processes, RunOutcome, RunRequest } from "../../ports/processes/port.ts";
import { readIncoming } from "./messages/incoming-message.ts";
import { OpenRequests } from "./messages/open-requests.ts";
import type { ServerLog } from "./server-log.ts";

/** Bytes of one message. */
const messageLimit = 100 * 1024 * 1024;
/** Milliseconds for a program to exit by itself after its stdin was closed. */
const farewell = 200;

export interface ChildTransportSettings {
	readonly request: Pick<RunRequest, "file" | "arguments" | "workDir" | "environment">;
	readonly processes: Processes;
	readonly clock: Clock;
	readonly log: ServerLog;
}

export interface ChildTransport extends Transport {
	/** Why it closed by itself, as a clause; null when it did not. */
	reason(): string | null;
}

/** Starts the program at once. Closing ends it, with all processes that it started. */
export function startChildTransport({ request, processes, clock, log }: ChildTransportSettings): ChildTransport {
	const splitter = createLineSplitter(messageLimit);
	const end = new AbortController();
	/** Aborts when the program has exited. */
	const goneController = new AbortController();
	const open = new OpenRequests();
	let input: ChildInput | null = null;
	let isClosed = false;
	let reason: string | null = null;
	let started: () => void = () => {};

	const finish = (why: string | null) => {
		if (isClosed) return;
		isClosed = true;
		reason = why;
		transport.onclose?.();
	};
	const receive = (line: Line) => {
		if (isClosed) return;
		if (line.kind === "oversized") {
			transport.onerror?.(new Error("A message is too long."));
			finish(`it sent a message of more than ${messageLimit / 1024 / 1024} MiB`);
			return void close();
		}
		const incoming = readIncoming(line.text, open);
		if (incoming === null) return log.note("stdout", line.text);
		// The program may exit before it gets the reply.
		for (const reply of incoming.replies) transport.send(reply).catch(() => {});
		for (const message of incoming.messages) transport.onmessage?.(message);
	};
	/** Lines that are not parsed yet, in order; parsing them yields to other work. */
	const unread: (readonly Line[])[] = [];
	const pace = createPace();
	let isReading = false;
	let reading = Promise.resolve();
	const readAll = async () => {
		isReading = true;
		for (let lines = unread.shift(); lines !== undefined; lines = unread.shift()) {
			for (const line of lines) {
				receive(line);
				const turn = pace.rest();
				if (turn !== undefined) await turn;
			}
		}
		isReading = false;
	};
	const receiveAll = (lines: readonly Line[]): Promise<void> | undefined => {
		unread.push(lines);
		if (!isReading) reading = readAll();
		return isReading ? reading : undefined;
	};

	const running = new Promise<void>((resolve) => {
		started = resolve;
	});
	const run = processes.run(
		{
			...request,
			outputLimit: 0,
			conversation: {
				begin(stdin) {
					input = stdin;
					started();
				},
				hear(source, bytes) {
					if (source === "output") return receiveAll(splitter.push(bytes));
					return log.hear(bytes);
				},
			},
		},
		end.signal,
	);
	const gone = run.then(async ({ ended }) => {
		goneController.abort();
		await receiveAll(splitter.end());
		finish(describeEnd(ended, log.end()));
	});

	const closed = () => new Error(reason ?? "the connection is closed");
	const close = async (): Promise<void> => {
		finish(null);
		input?.close();
		if (input !== null) await sleep(clock, farewell, goneController.signal);
		end.abort();
		await gone;
	};
	const transport: ChildTransport = {
		async start() {
			await Promise.race([running, gone]);
			if (isClosed) throw closed();
		},
		async send(message) {
			if (input === null || isClosed) throw closed();
			open.sent(message);
			try {
				await input.write(`${JSON.stringify(message)}\n`);
			} catch (thrown) {
				// A program that stops reading is usually about to exit, and its exit is the better reason.
				await sleep(clock, farewell, goneController.signal);
				throw isClosed ? closed() : thrown;
			}
		},
		close,
		reason: () => reason,
	};
	return transport;
}

function describeEnd(ended: RunOutcome["ended"], lastLine: string): string {
	const said = lastLine === "" ? "" : `; it said last: ${lastLine.replace(/\.$/, "")}`;
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
