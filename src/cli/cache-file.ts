import { mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";

/** Replaces the file, readable only by its owner. Ignores failures: without a cache the program is only slower. */
export function writeCacheFile(file: string, data: string | Buffer): void {
	const temporary = `${file}.${process.pid}.tmp`;
	try {
		makeDirectory(path.dirname(file), 0o700);
		writeFileSync(temporary, data, { mode: 0o600 });
		renameSync(temporary, file);
	} catch {
		// The home directory is read-only or the disk is full; nothing is lost.
		removeIfThere(temporary);
	}
}

/** A full disk still has room for names: without this each start would leave a temporary file. */
function removeIfThere(file: string): void {
	try {
		rmSync(file, { force: true });
	} catch {
		// An unwritable directory does not contain the file.
	}
}

/** Node's recursive `mkdir` loops forever if creating a directory fails with ENOENT, as below `/proc`. */
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
