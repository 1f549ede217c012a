// Writes text for people to stderr without blocking. Node's own writes block the process when nobody reads, or change
// how everybody else's writes to the same pipe behave; here text that cannot be written is dropped.
import { closeSync, constants, fstatSync, openSync, writeSync } from "node:fs";
import { Writable } from "node:stream";
import { runsOnBun } from "../../base/program-form.ts";

/** Reopened, so that the flags do not change for others who write to the same pipe or terminal. */
const descriptorPath = "/dev/fd/2";
const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Where text goes instead of stderr; null for stderr. */
let divert: NoticeTarget | null = null;

interface NoticeTarget {
	write(text: string): void;
	/** Resolves once everything has been passed on. */
	flush(): Promise<void>;
}

/**
 * From now on text goes to this target: for a program whose stderr leads where its stdout does, so that no text comes into
 * the middle of a line.
 */
export function divertNotices(target: NoticeTarget): void {
	divert = target;
}

/** Resolves once the text so far has been passed on: at once, unless it is diverted. */
export async function flushNotices(): Promise<void> {
	await divert?.flush();
}

/** Writes short text at once, or drops it when the reader is not ready. */
export function writeNotice(text: string): void {
	if (divert !== null) divert.write(text);
	else if (isFile()) writeDirectly(text);
	else if (!writeReopened(text)) writeAsNode(text);
}

/**
 * Where stderr is a file, others may go on writing to it from where its descriptor is, as the next command of a shell does
 * after `>log 2>&1`: text that was written past that place is overwritten. A file never blocks.
 */
function isFile(): boolean {
	try {
		return fstatSync(2).isFile();
	} catch {
		return false;
	}
}

/** False when stderr cannot be opened again: it is a socket, or another user's pipe. */
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
		// The pipe is full or closed: nobody reads it.
	} finally {
		closeSync(descriptor);
	}
	return true;
}

/** Node's own stream, which is created when it is first used. Under Bun it would be by looking at the property. */
const nodeStream = runsOnBun ? null : Object.getOwnPropertyDescriptor(process, "stderr")?.get;
let isWatched = false;

function writeAsNode(text: string): void {
	if (runsOnBun) {
		writeDirectly(text);
		return;
	}
	const stream: unknown = nodeStream?.call(process);
	if (!(stream instanceof Writable)) return;
	// It may have no reader.
	if (!isWatched) stream.on("error", () => {});
	isWatched = true;
	stream.write(text);
}

function writeDirectly(text: string): void {
	try {
		writeSync(2, text);
	} catch {
		// It is full or closed.
	}
}

/**
 * Where stderr is a pipe, whatever uses `process.stderr` from now on writes as `writeNotice` does: merely to look at
 * Node's own stream, as its libraries do, makes the writes of others to that pipe fail while it is full. Under Bun it is the
 * replacement that would do so, and nothing looks at the stream.
 */
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
