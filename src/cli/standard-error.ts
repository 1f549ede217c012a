// Text for people on stderr. Node writes it so that whoever does not read it stops the whole process; this way it is dropped.
import { closeSync, constants, openSync, writeSync } from "node:fs";

/** Opened anew: its own flags are not to become those of others who write to the same pipe or terminal. */
const descriptorPath = "/dev/fd/2";
const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Writes short text at once, or not at all where nobody takes it. */
export function writeNotice(text: string): void {
	let descriptor: number;
	try {
		descriptor = openSync(descriptorPath, flags);
	} catch {
		// A socket, or another user's: there is only the way that waits.
		process.stderr.write(text);
		return;
	}
	try {
		writeSync(descriptor, text);
	} catch {
		// It is full, or closed: nobody reads it.
	} finally {
		closeSync(descriptor);
	}
}
