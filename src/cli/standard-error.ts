// Writes text for people to stderr without blocking. Node's own writes block the process when nobody reads; here such
// text is dropped.
import { closeSync, constants, openSync, writeSync } from "node:fs";

/** Reopened, so that the flags do not change for others who write to the same pipe or terminal. */
const descriptorPath = "/dev/fd/2";
const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Writes short text at once, or drops it when the reader is not ready. */
export function writeNotice(text: string): void {
	let descriptor: number;
	try {
		descriptor = openSync(descriptorPath, flags);
	} catch {
		// A socket, or another user's pipe: only a blocking write is possible.
		process.stderr.write(text);
		return;
	}
	try {
		writeSync(descriptor, text);
	} catch {
		// The pipe is full or closed: nobody reads it.
	} finally {
		closeSync(descriptor);
	}
}
