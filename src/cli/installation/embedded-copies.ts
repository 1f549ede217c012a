// Copies of what is embedded in the one file, for uses that need a file of the system: a program to start, texts to be
// read by paths. Copies lie in the user's cache directory, below a name with their checksum, and are compared with
// the original before they are used: a cache may be damaged, or changed by a command that may write there.
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

/** A file to copy: its path below the copies' directory, and how to get its content. */
export interface EmbeddedFile {
	readonly path: string;
	readonly isProgram: boolean;
	read(): Buffer;
}

export interface CopyPlaces {
	/** The usual directory, which stays between runs. */
	readonly cacheDir: string;
	/** Where nothing can be stored: a directory in here, which is removed when the process exits. */
	readonly temporaryDir: string;
	atExit(remove: () => void): void;
}

export interface EmbeddedCopies {
	/** The directory with copies of all files, each equal to its original at the time of this call. Throws when there is no place for them. */
	directory(): string;
}

/** A file as it was when it was compared; no writer can set the time of the last change of a status. */
type Mark = string;

/** `name` is that of the copies' directory: another one for other content. */
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
				// A home that cannot be written: the copies live as long as the process.
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
	// Not named after the process: one in another container may have the same id.
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
