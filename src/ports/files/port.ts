// The port to the file system, used for all file access, so that a test can count, fail and stop at each effect. Errors are
// Node's own (`code`, `path`), for the caller to explain.

export interface FileStatus {
	readonly kind: "file" | "directory" | "other";
	/** Bytes. */
	readonly size: number;
	/** Milliseconds since the epoch. */
	readonly modifiedAt: number;
	readonly mode: number;
	/** The owner's user id; absent on systems without owners. */
	readonly owner?: number;
}

export interface DirectoryEntry {
	readonly name: string;
	/** For symbolic links, the target's kind. */
	readonly kind: "file" | "directory" | "other";
}

/** A file open for appending. One append is one write; calls are serialized. */
export interface AppendFile {
	append(text: string): Promise<void>;
	/** Appends a text too long for one string, in several writes, without other appends in between. */
	appendPieces(pieces: Iterable<string>): Promise<void>;
	/** Waits until appended data is on stable storage. */
	sync(): Promise<void>;
	close(): Promise<void>;
}

export interface ReplaceOptions {
	/** Permission bits of the new file; default: those of the replaced file, or 0o666 less the umask. */
	readonly mode?: number;
	/** Sync the file and its directory before returning. Default false. */
	readonly sync?: boolean;
	/** The path is already resolved: a link created there since fails the replacement with `ELOOP`. */
	readonly withoutLinks?: boolean;
	/**
	 * Writes the file in place if a rename is impossible (a mounted file, a read-only directory) or would break its hard links.
	 * Only then may a crash leave partial content. Not for content in pieces.
	 */
	readonly inPlaceIfNeeded?: boolean;
}

/** Checks an opened file by its resolved path before it is read. The read fails with any error thrown. */
export type Admit = (resolvedPath: string) => Promise<void>;

/**
 * Reads never block: anything but a regular file or the null device is refused with EINVAL, and the kernel's pseudo files (below
 * `/proc`) are read up to the last data they return.
 */
export interface Files {
	/** A view in which only admitted files can be read. Checks the opened file, not an earlier one at its path. */
	admitting(admit: Admit): Files;
	/** The whole file; null if missing. Fails with EFBIG above `limit` bytes: the size reported just before may be smaller. */
	read(path: string, limit?: number): Promise<Buffer | null>;
	/** At most `length` bytes from `offset`; null if the file is missing. */
	readRange(path: string, offset: number, length: number): Promise<Buffer | null>;
	/** The content in pieces, read lazily; empty if the file is missing. */
	readPieces(path: string): AsyncIterable<Buffer>;
	/** Follows symbolic links; null if nothing exists there. */
	status(path: string): Promise<FileStatus | null>;
	list(path: string): Promise<DirectoryEntry[]>;
	/** The path with every symbolic link resolved; a missing tail stays as spelled. */
	resolve(path: string): Promise<string>;
	/**
	 * Creates the directory and its parents if missing. `mode` sets the permission bits of a directory created here; default:
	 * 0o777 less the umask, as for the parents. Resolves with whether it was created.
	 */
	makeDirectory(path: string, mode?: number): Promise<boolean>;
	/**
	 * Writes a temporary file in the same directory and renames it to `path`: readers see the old or the new content, never a
	 * part. Retains the replaced file's user and group, as far as the system permits, unless `mode` is given or the file belongs
	 * to the program.
	 */
	replace(path: string, content: string | Uint8Array, options?: ReplaceOptions): Promise<void>;
	/**
	 * Like `replace`, with content in pieces that is never in memory as a whole. If a piece fails, nothing changes and the error
	 * is passed on.
	 */
	replaceByPieces(path: string, pieces: AsyncIterable<Uint8Array>, options?: ReplaceOptions): Promise<void>;
	/** Creates the file with this content; returns its status, or null if it already exists. */
	create(path: string, content: string): Promise<FileStatus | null>;
	rename(from: string, to: string): Promise<void>;
	truncate(path: string, length: number): Promise<void>;
	openAppend(path: string): Promise<AppendFile>;
	/** Puts the names in a directory on stable storage: files created, renamed and removed there. */
	syncDirectory(path: string): Promise<void>;
	/** Removes a file or a whole directory. Idempotent. */
	remove(path: string): Promise<void>;
}

export type FileReader = Pick<Files, "read" | "readRange" | "readPieces" | "status">;
