// The process's own stdin and stdout as a line transport; the only file that accesses them.
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

/** The longest accepted line, in bytes (wire-protocol §1.5). */
export const lineLimit = 104_857_600;

/** Bytes queued for a slow reader before producers have to wait. */
export const outboxLimit = 262_144;

/** Bytes of unread replies at which no more requests are read. */
export const replyLimit = 16_777_216;

/** stdin and stdout, opened before anybody knows what they are used for. */
export interface OpenedStdio {
	readonly input: ByteInput;
	readonly outbox: Outbox;
}

/** stdin; it is read from the first listener for bytes on. */
export function openStdin(): ByteInput {
	return runsOnBun ? createDescriptorInput(0) : process.stdin;
}

/** stdout for lines. `limit` is the number of bytes queued for a slow reader before producers have to wait. */
export function openLineOutput(limit: number): Outbox {
	return createStdoutOutbox("\n", limit);
}

/** A transport over what was opened. */
export function createStdioTransport({ input, outbox }: OpenedStdio): LineTransport {
	return createLineTransport(input, outbox, { lineLimit, replyLimit }, () => input.destroy());
}

/** stdout for text that is written unchanged. */
export function createTextOutput(): Outbox {
	return createStdoutOutbox("", outboxLimit);
}

/** stdin line by line, read lazily. A broken stdin ends like any other. */
export async function* readInputLines(): AsyncGenerator<Line> {
	const splitter = createInputSplitter(lineLimit);
	try {
		for await (const bytes of process.stdin) yield* splitter.push(bytes);
	} catch {
		// Complete lines before the error still count.
	}
	yield* splitter.end();
}

/** The whole of stdin. Rejects when it cannot be read, or has more bytes than a line may have; no more of them are read then. */
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

/**
 * Node makes `process.stdout` blocking on pipes: a client that stops reading would stop the whole process.
 * A socket of our own writes without blocking.
 */
function openOutput(status: Stats): Writable {
	if (status.isFIFO()) return new Socket({ fd: reopenPipe(status), readable: false, writable: true });
	if (status.isSocket()) return new Socket({ fd: 1, readable: false, writable: true });
	if (status.isFile()) return createWriteStream("", { fd: 1, autoClose: false });
	return process.stdout;
}

/**
 * Opens the pipe of stdout again: other programs that write to it, a shell's next command or its own stderr, must not
 * find that their writes do not block any more. Where that is impossible, its own descriptor has to do.
 */
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

/** Whether stderr leads where stdout does, as after `2>&1`. */
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
