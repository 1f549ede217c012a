// The protocol's messages over the stdin and stdout of a program that is started for it. What the program prints beside
// them goes to the log.
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { type Clock, sleep } from "../base/clock.ts";
import { isRecord } from "../base/json.ts";
import { createLineSplitter, type Line } from "../base/lines.ts";
import type { ChildInput, Processes, RunOutcome, RunRequest } from "../processes/port.ts";
import type { ServerLog } from "./server-log.ts";

/** Bytes of one message. */
const messageLimit = 100 * 1024 * 1024;
/** Milliseconds that a program has to go by itself when its stdin was closed. */
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

/** Starts the program at once. Closing ends it, with all it has started. */
export function startChildTransport({ request, processes, clock, log }: ChildTransportSettings): ChildTransport {
	const splitter = createLineSplitter(messageLimit);
	const end = new AbortController();
	/** Aborts when the program has ended. */
	const goneController = new AbortController();
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
		const messages = readMessages(line.text);
		if (messages === null) log.note("stdout", line.text);
		else for (const message of messages) transport.onmessage?.(message);
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
					if (source === "error") log.hear(bytes);
					else for (const line of splitter.push(bytes)) receive(line);
				},
			},
		},
		end.signal,
	);
	const gone = run.then(({ ended }) => {
		goneController.abort();
		for (const line of splitter.end()) receive(line);
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
			try {
				await input.write(`${JSON.stringify(message)}\n`);
			} catch (thrown) {
				// A program that reads no more is about to end as a rule, and its end says more.
				await sleep(clock, farewell, goneController.signal);
				throw isClosed ? closed() : thrown;
			}
		},
		close,
		reason: () => reason,
	};
	return transport;
}

/** The messages of a line, which by old versions may be several; null when it is none of the protocol's. */
function readMessages(text: string): readonly JSONRPCMessage[] | null {
	if (text.trim() === "") return [];
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch {
		return null;
	}
	const values: readonly unknown[] = Array.isArray(value) ? value : [value];
	return values.every(isMessage) ? values : null;
}

/** The library looks closer at those that pass. */
function isMessage(value: unknown): value is JSONRPCMessage {
	if (!isRecord(value) || value["jsonrpc"] !== "2.0") return false;
	return typeof value["method"] === "string" || "result" in value || isRecord(value["error"]);
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
