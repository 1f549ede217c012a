// The program as one file: the runtime, the code and all that belongs to it. What needs a file of its own is copied out.
import { readdirSync, readFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import path from "node:path";
import { createEmbeddedCopies, type EmbeddedCopies, type EmbeddedFile } from "./embedded-copies.ts";
import type { Installation } from "./installation.ts";

/** How the build names embedded directories: the word, a dash and a checksum of the content. */
export type EmbeddedName = "skills" | "ripgrep" | "gateway-page";

const program = process.platform === "win32" ? "rg.exe" : "rg";

/** `root` is the directory under which the embedded files can be read. */
export function createOneFileInstallation(root: string): Installation {
	const cacheHome = process.env["XDG_CACHE_HOME"] || path.join(homedir(), ".cache");
	const places = {
		cacheDir: path.join(cacheHome, "agentwire"),
		temporaryDir: tmpdir(),
		atExit: (remove: () => void) => void process.once("exit", remove),
	};
	const copies = (name: EmbeddedName): EmbeddedCopies => {
		const folder = readdirSync(root).find((entry) => entry.startsWith(`${name}-`)) ?? name;
		const list = () =>
			listFiles(path.join(root, folder)).map((file) => embeddedFile(root, folder, file, name === "ripgrep"));
		return createEmbeddedCopies(folder, list, places);
	};
	const copyOf = (name: EmbeddedName): string | null => {
		try {
			return copies(name).directory();
		} catch {
			// Neither the cache directory nor the temporary one can be written: the program works without.
			return null;
		}
	};
	let ripgrep: EmbeddedCopies | null = null;
	return {
		command: [process.execPath],
		get skillsDir() {
			return copyOf("skills");
		},
		get pageDir() {
			return copyOf("gateway-page");
		},
		pageThread: path.join(root, "web-page-thread.js"),
		async findRipgrep() {
			try {
				ripgrep ??= copies("ripgrep");
				return path.join(ripgrep.directory(), program);
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
