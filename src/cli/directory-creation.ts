// Creates directories for files that are written before, and without, the file port: the code cache.
import { mkdirSync, statSync } from "node:fs";
import path from "node:path";

/**
 * Creates the directory and its parents. Node's own recursive `mkdir` never ends where creating a directory fails as if
 * its parent were missing, as below `/proc`.
 */
export function makeDirectory(directory: string, mode = 0o777): void {
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
