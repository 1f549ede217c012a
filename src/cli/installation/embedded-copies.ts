// Copies are verified before use: the cache may be damaged, or changed by a command that may write there.
import { randomBytes } from "node:crypto";
import {
	chmodSync,
	closeSync,
	fsyncSync,
	lstatSync,
	mkdirSync,
	mkdtempSync,
	openSync,
	readFileSync,
	renameSync,
	rmSync,
	writeSync,
} from "node:fs";
import path from "node:path";

/** A file to copy: its path below the copy directory, and how to read its content. */
export interface EmbeddedFile {
	readonly path: string;
	readonly isProgram: boolean;
	read(): Buffer;
}

export interface CopyPlaces {
	/** The default location, which persists between runs. */
	readonly cacheDir: string;
	/** Fallback if the cache directory is unwritable: a subdirectory here, removed at exit. */
	readonly temporaryDir: string;
	atExit(remove: () => void): void;
}

export interface EmbeddedCopies {
	directory(): string;
}

/** Identifies a verified file state: no program can set a file's status-change time. */
type Mark = string;

/** `name` is the name of the copy directory; it differs for different content. */
export function createEmbeddedCopies(
	name: string,
	list: () => readonly EmbeddedFile[],
	places: CopyPlaces,
): EmbeddedCopies {
	let directory: string | null = null;
	let files: readonly EmbeddedFile[] = [];
	let marks: readonly Mark[] = [];

	const place = (): string => {
		files = list();
		const all = files.map((file) => ({ file, content: file.read() }));
		for (const parent of [places.cacheDir, null]) {
			try {
				const target = path.join(parent ?? temporaryDirectory(places), name);
				for (const { file, content } of all) copyUnlessEqual(path.join(target, file.path), file.isProgram, content);
				return target;
			} catch (thrown) {
				// The home directory is not writable: keep the copies for the lifetime of the process.
				if (parent === null) throw thrown;
			}
		}
		throw new Error("There is no place for copies.");
	};

	return {
		directory() {
			const known = directory;
			if (known !== null) {
				const found = files.map((file) => markOf(path.join(known, file.path)));
				if (found.every((mark, index) => mark !== null && mark === marks[index])) return known;
			}
			const placed = place();
			marks = files.map((file) => markOf(path.join(placed, file.path)) ?? "");
			directory = placed;
			return placed;
		},
	};
}

function temporaryDirectory({ temporaryDir, atExit }: CopyPlaces): string {
	const made = mkdtempSync(path.join(temporaryDir, "agentwire-"));
	atExit(() => rmSync(made, { recursive: true, force: true }));
	return made;
}

function markOf(file: string): Mark | null {
	try {
		const { dev, ino, size, mtimeMs, ctimeMs, mode } = lstatSync(file);
		return [dev, ino, size, mtimeMs, ctimeMs, mode].join(" ");
	} catch {
		return null;
	}
}

function copyUnlessEqual(file: string, isProgram: boolean, content: Buffer): void {
	const mode = isProgram ? 0o700 : 0o600;
	if (isEqual(file, mode, content)) return;
	mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
	// The process id does not make the name unique: a process in another container may have the same id.
	const temporary = `${file}.${randomBytes(9).toString("hex")}.tmp`;
	try {
		writeSynced(temporary, mode, content);
		chmodSync(temporary, mode);
		renameSync(temporary, file);
	} catch (thrown) {
		rmSync(temporary, { force: true });
		throw thrown;
	}
}

function writeSynced(file: string, mode: number, content: Buffer): void {
	const descriptor = openSync(file, "wx", mode);
	try {
		for (let written = 0; written < content.length; ) written += writeSync(descriptor, content, written);
		fsyncSync(descriptor);
	} finally {
		closeSync(descriptor);
	}
}

function isEqual(file: string, mode: number, content: Buffer): boolean {
	try {
		const status = lstatSync(file);
		if (!status.isFile() || status.size !== content.length) return false;
		if (process.platform !== "win32" && (status.mode & 0o777) !== mode) return false;
		return readFileSync(file).equals(content);
	} catch {
		return false;
	}
}
