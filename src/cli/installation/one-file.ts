// The one-file program: runtime, code and resources. Extracts what must exist as a file.
import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Installation } from "../../host/installation.ts";
import { cacheDirectory } from "../home.ts";
import { createEmbeddedCopies, type EmbeddedCopies, type EmbeddedFile } from "./embedded-copies.ts";

export type EmbeddedName = "skills" | "ripgrep" | "gateway-page" | "documents";

const program = process.platform === "win32" ? "rg.exe" : "rg";

export function createOneFileInstallation(root: string): Installation {
	const cacheHome = cacheDirectory();
	const places = {
		cacheDir: path.join(cacheHome, "agentwire"),
		temporaryDir: tmpdir(),
		atExit: (remove: () => void) => void process.once("exit", remove),
	};
	const known = new Map<EmbeddedName, EmbeddedCopies>();
	const folderOf = (name: EmbeddedName): string =>
		readdirSync(root).find((entry) => entry.startsWith(`${name}-`)) ?? name;
	const copiesOf = (name: EmbeddedName): EmbeddedCopies => {
		const folder = folderOf(name);
		const list = () =>
			listFiles(path.join(root, folder)).map((file) => embeddedFile(root, folder, file, name === "ripgrep"));
		return createEmbeddedCopies(folder, list, places);
	};
	const directoryOf = (name: EmbeddedName): string | null => {
		try {
			const copies = known.get(name) ?? copiesOf(name);
			known.set(name, copies);
			return copies.directory();
		} catch {
			// Neither the cache nor the temporary directory is writable: the program works without the copies.
			return null;
		}
	};
	return {
		command: [process.execPath],
		get skillsDir() {
			return directoryOf("skills");
		},
		get pageDir() {
			return directoryOf("gateway-page");
		},
		pageThread: path.join(root, "web-page-thread.js"),
		// Only the program reads them, so they stay embedded.
		documentsDir: () => path.join(root, folderOf("documents")),
		async findRipgrep() {
			const directory = directoryOf("ripgrep");
			return directory === null ? "rg" : path.join(directory, program);
		},
	};
}

function embeddedFile(root: string, folder: string, file: string, isProgram: boolean): EmbeddedFile {
	return { path: file, isProgram, read: () => readFileSync(path.join(root, folder, file)) };
}

function listFiles(directory: string, below = ""): string[] {
	return readdirSync(path.join(directory, below), { withFileTypes: true }).flatMap((entry) => {
		const file = path.join(below, entry.name);
		return entry.isDirectory() ? listFiles(directory, file) : [file];
	});
}
