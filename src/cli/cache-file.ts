// Files in the user's cache directory.
import { mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";

/** Replaces a file that only its owner can read. A failure is not reported: without a cache the program is only slower. */
export function writeCacheFile(file: string, data: string | Buffer): void {
	const temporary = `${file}.${process.pid}.tmp`;
	try {
		makeDirectory(path.dirname(file), 0o700);
		writeFileSync(temporary, data, { mode: 0o600 });
		renameSync(temporary, file);
	} catch {
		// Read-only home or full disk: nothing to report, nothing lost.
		removeIfThere(temporary);
	}
}

/** A disk that is full has room for names: without this each start would leave some. */
function removeIfThere(file: string): void {
	try {
		rmSync(file, { force: true });
	} catch {
		// The directory cannot be written: then there is no such file.
	}
}

/**
 * Creates the directory and its parents. Node's own recursive `mkdir` never ends where creating a directory fails as if
 * its parent were missing, as below `/proc`.
 */
function makeDirectory(directory: string, mode = 0o777): void {
	if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true) return;
	const parent = path.dirname(directory);
	if (parent !== directory) makeDirectory(parent, mode);
	try {
		mkdirSync(directory, { mode });
	} catch (thrown) {
		// Another process may have created it meanwhile.
		if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) throw thrown;
	}
}
