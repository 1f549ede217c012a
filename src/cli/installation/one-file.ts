// The program as one file: the runtime, the code and all that belongs to it. What needs a file of its own is copied out.
import { readdirSync, readFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import path from "node:path";
import { createEmbeddedCopies, type EmbeddedFile } from "./embedded-copies.ts";
import type { Installation } from "./installation.ts";

/** Folders and files as the build embeds them. */
export const embedded = { skills: "skills", ripgrep: process.platform === "win32" ? "rg.exe" : "rg" } as const;

/** `root` is the directory under which the embedded files can be read. */
export function createOneFileInstallation(root: string): Installation {
	const cacheHome = process.env["XDG_CACHE_HOME"] || path.join(homedir(), ".cache");
	const places = {
		cacheDir: path.join(cacheHome, "agentwire"),
		temporaryDir: tmpdir(),
		atExit: (remove: () => void) => void process.once("exit", remove),
	};
	const skills = createEmbeddedCopies(
		"skills",
		() => listFiles(path.join(root, embedded.skills)).map((file) => embeddedFile(root, embedded.skills, file, false)),
		places,
	);
	const ripgrep = createEmbeddedCopies("ripgrep", () => [embeddedFile(root, "", embedded.ripgrep, true)], places);
	return {
		command: [process.execPath],
		get skillsDir() {
			try {
				return skills.directory();
			} catch {
				// Neither the cache directory nor the temporary one can be written: no session depends on these skills.
				return null;
			}
		},
		pageThread: path.join(root, "web-page-thread.js"),
		async findRipgrep() {
			try {
				return path.join(ripgrep.directory(), embedded.ripgrep);
			} catch {
				return "rg";
			}
		},
	};
}

function embeddedFile(root: string, folder: string, file: string, isProgram: boolean): EmbeddedFile {
	return { path: file, isProgram, read: () => readFileSync(path.join(root, folder, file)) };
}

/** Paths of the files below a directory. */
function listFiles(directory: string, below = ""): string[] {
	return readdirSync(path.join(directory, below), { withFileTypes: true }).flatMap((entry) => {
		const file = path.join(below, entry.name);
		return entry.isDirectory() ? listFiles(directory, file) : [file];
	});
}
