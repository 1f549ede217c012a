// The port to the file system, which all file accesses use, so that a test can count, fail and stop at each effect.
// Errors are Node's own (`code`, `path`), for the caller to explain.

export interface FileStatus {
	readonly kind: "file" | "directory" | "other";
	/** Bytes. */
	readonly size: number;
	/** Milliseconds since the epoch. */
	readonly modifiedAt: number;
	/** Permission bits. */
	readonly mode: number;
	/** The number of the user whose it is; absent where files have none. */
	readonly owner?: number;
}

export interface DirectoryEntry {
	readonly name: string;
	/** For symbolic links, that of the target. */
	readonly kind: "file" | "directory" | "other";
}

/** A file open for appending. One append is one write; calls are serialized. */
export interface AppendFile {
	append(text: string): Promise<void>;
	/** Appends a text that is too long for one string, in several writes; no other append comes in between. */
	appendPieces(pieces: Iterable<string>): Promise<void>;
	/** Waits until what was appended is on stable storage. */
	sync(): Promise<void>;
	close(): Promise<void>;
}

export interface ReplaceOptions {
	/** Permission bits of the new file; default: those of the file replaced, else 0o666 less the umask. */
	readonly mode?: number;
	/** Sync the file and its directory before returning. Default false. */
	readonly sync?: boolean;
	/** The path is resolved already: a link that was put on it since fails the replacement with `ELOOP`. */
	readonly withoutLinks?: boolean;
	/**
	 * Writes the file itself where a rename cannot work (a file that is mounted, a directory that may not be written) or
	 * would cut its hard links. Only then may a crash leave a part of the content. Not for content in pieces.
	 */
	readonly inPlaceIfNeeded?: boolean;
}

/**
 * Checks an opened file by its resolved path, before anything of it is read. What it throws is the failure of the read.
 */
export type Admit = (resolvedPath: string) => Promise<void>;

/**
 * Reads never block: anything but a regular file or the null device is refused with EINVAL, and the kernel's pseudo
 * files (below `/proc`) are read up to the last data they return.
 */
export interface Files {
	/**
	 * The same files, of which only admitted ones can be read. The opened file is checked, not an earlier one at its
	 * path.
	 */
	admitting(admit: Admit): Files;
	/**
	 * The whole file; null when there is none. Fails with EFBIG when it has more than `limit` bytes: its status may say
	 * less a moment before.
	 */
	read(path: string, limit?: number): Promise<Buffer | null>;
	/** At most `length` bytes from `offset`; null when there is no file. */
	readRange(path: string, offset: number, length: number): Promise<Buffer | null>;
	/** The bytes in pieces, read lazily; nothing when there is no file. */
	readPieces(path: string): AsyncIterable<Buffer>;
	/** Follows symbolic links; null when nothing exists there. */
	status(path: string): Promise<FileStatus | null>;
	list(path: string): Promise<DirectoryEntry[]>;
	/** The path with every symbolic link resolved; a missing tail stays as spelled. */
	resolve(path: string): Promise<string>;
	/**
	 * Creates the directory and its parents unless they exist. `mode` are the permission bits of the directory, if it
	 * is created here; default: 0o777 less the umask, as for the parents. Resolves with whether it was.
	 */
	makeDirectory(path: string, mode?: number): Promise<boolean>;
	/**
	 * Writes a temporary file in the same directory and renames it to `path`: readers see the old or the new content,
	 * never a part. It retains the user and the group of the file replaced, as far as the system permits, unless `mode` is
	 * given or the file is the program's own.
	 */
	replace(path: string, content: string | Uint8Array, options?: ReplaceOptions): Promise<void>;
	/**
	 * The same, with content in pieces that is never in memory as a whole. When getting a piece fails, nothing has
	 * changed and the failure is passed on.
	 */
	replaceByPieces(path: string, pieces: AsyncIterable<Uint8Array>, options?: ReplaceOptions): Promise<void>;
	/** Creates the file with this content; its status then, or null when it exists already. */
	create(path: string, content: string): Promise<FileStatus | null>;
	rename(from: string, to: string): Promise<void>;
	/** Cuts the file to `length` bytes. */
	truncate(path: string, length: number): Promise<void>;
	openAppend(path: string): Promise<AppendFile>;
	/** Puts the names in a directory on stable storage: files created, renamed and removed there. */
	syncDirectory(path: string): Promise<void>;
	/** Removes a file or a whole directory, if it exists. */
	remove(path: string): Promise<void>;
}

/** What is needed of them where files are only read. */
export type FileReader = Pick<Files, "read" | "readRange" | "readPieces" | "status">;
