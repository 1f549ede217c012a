// Node's own writes to stderr block if nobody reads; here text that cannot be written is dropped.
import { closeSync, constants, fstatSync, openSync, writeSync } from "node:fs";
import { Writable } from "node:stream";
import { runsOnBun } from "../../base/program-form.ts";

/** Reopened, so that the flags do not change for other processes that use the pipe or terminal. */
const descriptorPath = "/dev/fd/2";
const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Replaces stderr as the target of notices; null means stderr. */
let divert: NoticeTarget | null = null;

interface NoticeTarget {
	write(text: string): void;
	flush(): Promise<void>;
}

/** Redirects notices to this target, for a program whose stderr and stdout are the same, so that no text splits a line. */
export function divertNotices(target: NoticeTarget): void {
	divert = target;
}

export async function flushNotices(): Promise<void> {
	await divert?.flush();
}

/** Writes short text at once, or drops it if the reader is not ready. */
export function writeNotice(text: string): void {
	if (divert !== null) divert.write(text);
	else if (isFile()) writeDirectly(text);
	else if (!writeReopened(text)) writeAsNode(text);
}

/** A file never blocks, and other processes continue at its position, so it is not reopened. */
function isFile(): boolean {
	try {
		return fstatSync(2).isFile();
	} catch {
		return false;
	}
}

/** False if stderr cannot be reopened: it is a socket, or another user's pipe. */
function writeReopened(text: string): boolean {
	let descriptor: number;
	try {
		descriptor = openSync(descriptorPath, flags);
	} catch {
		return false;
	}
	try {
		writeSync(descriptor, text);
	} catch {
		// The pipe is full or closed.
	} finally {
		closeSync(descriptor);
	}
	return true;
}

/** Node's own stream, created on first use. In Bun, accessing the property would create it. */
const nodeStream = runsOnBun ? null : Object.getOwnPropertyDescriptor(process, "stderr")?.get;
let isWatched = false;

function writeAsNode(text: string): void {
	if (runsOnBun) {
		writeDirectly(text);
		return;
	}
	const stream: unknown = nodeStream?.call(process);
	if (!(stream instanceof Writable)) return;
	// The stream may have no reader.
	if (!isWatched) stream.on("error", () => {});
	isWatched = true;
	stream.write(text);
}

function writeDirectly(text: string): void {
	try {
		writeSync(2, text);
	} catch {
		// The stream is full or closed.
	}
}

/** Accessing Node's stderr stream, as libraries do, makes other processes' writes fail while the pipe is full. */
export function replaceStandardError(): void {
	if (runsOnBun || !isPipe()) return;
	const stream = new Writable({
		decodeStrings: false,
		write(chunk: unknown, _encoding, done) {
			writeNotice(String(chunk));
			done();
		},
	});
	Object.defineProperty(process, "stderr", { value: stream, configurable: true, enumerable: true });
}

function isPipe(): boolean {
	try {
		return fstatSync(2).isFIFO();
	} catch {
		return false;
	}
}
