// The folders of one case: home, share directory and work dir, all in a temporary one that goes with the case.
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

export interface Stage {
	readonly root: string;
	readonly home: string;
	readonly shareDir: string;
	readonly workDir: string;
	/** Writes a file below the work dir and gives its path. */
	write(name: string, content: string | Uint8Array): string;
	/** Writes a file below the share directory and gives its path. */
	writeShared(name: string, content: string | Uint8Array): string;
	/** Makes the directory of a session of the work dir and writes its files. */
	writeSession(id: string, files: Readonly<Record<string, string | Uint8Array>>): void;
	clear(): void;
}

export function createStage(): Stage {
	const root = realpathSync(mkdtempSync(path.join(tmpdir(), "agentwire-wedge-")));
	const [home, shareDir, workDir] = ["home", "share", "work"].map((name) => path.join(root, name));
	if (home === undefined || shareDir === undefined || workDir === undefined) throw new Error("no directories");
	for (const directory of [home, shareDir, workDir]) mkdirSync(directory);
	const writeBelow = (directory: string) => (name: string, content: string | Uint8Array) => {
		const file = path.join(directory, name);
		mkdirSync(path.dirname(file), { recursive: true });
		writeFileSync(file, content);
		return file;
	};
	const writeShared = writeBelow(shareDir);
	return {
		root,
		home,
		shareDir,
		workDir,
		write: writeBelow(workDir),
		writeShared,
		writeSession(id, files) {
			const directory = path.join("sessions", createHash("md5").update(workDir).digest("hex"), id);
			for (const [name, content] of Object.entries(files)) writeShared(path.join(directory, name), content);
		},
		clear: () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }),
	};
}
