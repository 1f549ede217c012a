import { closeSync, constants, createWriteStream, fstatSync, openSync, type Stats } from "node:fs";
import { Socket } from "node:net";
import type { Writable } from "node:stream";
import { runsOnBun } from "../../base/program-form.ts";
import { createInputSplitter, type Line, withoutMark } from "../../base/text/lines.ts";
import type { LineTransport } from "../rpc/transport.ts";
import { createSinkWriter } from "./bun-sink.ts";
import { type ByteInput, createDescriptorInput } from "./descriptor-input.ts";
import { createLineTransport } from "./line-input.ts";
import { Outbox } from "./outbox.ts";

/** Maximum line length in bytes (wire-protocol §1.5). */
export const lineLimit = 104_857_600;

/** Bytes queued for a slow reader before producers wait. */
export const outboxLimit = 262_144;

/** Bytes of unread replies at which reading stops. */
export const replyLimit = 16_777_216;

export interface OpenedStdio {
	readonly input: ByteInput;
	readonly outbox: Outbox;
}

export function openStdin(): ByteInput {
	return runsOnBun ? createDescriptorInput(0) : process.stdin;
}

/** stdout for lines. `limit` is the bytes queued for a slow reader before producers wait. */
export function openLineOutput(limit: number): Outbox {
	return createStdoutOutbox("\n", limit);
}

export function createStdioTransport({ input, outbox }: OpenedStdio): LineTransport {
	return createLineTransport(input, outbox, { lineLimit, replyLimit }, () => input.destroy());
}

export function createTextOutput(): Outbox {
	return createStdoutOutbox("", outboxLimit);
}

/** stdin line by line, read lazily. A broken stdin counts as ended. */
export async function* readInputLines(): AsyncGenerator<Line> {
	const splitter = createInputSplitter(lineLimit);
	try {
		for await (const bytes of process.stdin) yield* splitter.push(bytes);
	} catch {
		// Complete lines before the error still count.
	}
	yield* splitter.end();
}

/** All of stdin. Rejects when it is unreadable or exceeds the line limit, and then stops reading. */
export async function readInput(): Promise<string> {
	const pieces: Buffer[] = [];
	let length = 0;
	for await (const bytes of process.stdin) {
		pieces.push(bytes);
		length += bytes.length;
		if (length > lineLimit) throw new Error(`it has more than ${lineLimit / 1_048_576} MiB`);
	}
	return withoutMark(Buffer.concat(pieces).toString("utf8"));
}

function createStdoutOutbox(ending: string, limit: number): Outbox {
	const status = fstatSync(1);
	if (runsOnBun && (status.isFIFO() || status.isSocket())) {
		return new Outbox(createSinkWriter(status.isFIFO() ? reopenPipe(status) : 1), limit, ending);
	}
	const output = openOutput(status);
	const outbox = new Outbox((text, done) => void output.write(text, done), limit, ending);
	output.on("error", (error) => outbox.abandon(error));
	output.on("close", () => outbox.abandon(new Error("stdout was closed")));
	return outbox;
}

/** `process.stdout` blocks on pipes, and with it the whole process; our own socket does not. */
function openOutput(status: Stats): Writable {
	if (status.isFIFO()) return new Socket({ fd: reopenPipe(status), readable: false, writable: true });
	if (status.isSocket()) return new Socket({ fd: 1, readable: false, writable: true });
	if (status.isFile()) return createWriteStream("", { fd: 1, autoClose: false });
	return process.stdout;
}

/** Other programs that share the pipe keep blocking writes. Falls back to the original descriptor. */
function reopenPipe(status: Stats): number {
	let opened: number | null = null;
	try {
		opened = openSync("/dev/fd/1", constants.O_WRONLY | constants.O_NONBLOCK);
		if (isSame(fstatSync(opened), status)) return opened;
	} catch {
		// Another user's pipe, or a system without such paths.
	}
	if (opened !== null) closeSync(opened);
	return 1;
}

/** Whether stderr goes to the same place as stdout, as after `2>&1`. */
export function isStderrShared(): boolean {
	try {
		return isSame(fstatSync(1), fstatSync(2));
	} catch {
		return false;
	}
}

function isSame(one: Stats, other: Stats): boolean {
	return one.dev === other.dev && one.ino === other.ino;
}
