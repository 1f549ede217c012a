// The one way to the file system. Everything that writes goes through this port, so that a test can count,
// fail and stop at each effect. Errors are Node's own (`code`, `path`), left to the caller to explain.

export interface FileStatus {
	readonly kind: "file" | "directory" | "other";
	/** Bytes. */
	readonly size: number;
	/** Milliseconds since the epoch. */
	readonly modifiedAt: number;
	/** Permission bits. */
	readonly mode: number;
}

export interface DirectoryEntry {
	readonly name: string;
	/** Of what the entry points to, for symbolic links. */
	readonly kind: "file" | "directory" | "other";
}

/** A file open for appending. One append is one write; calls are carried out in order. */
export interface AppendFile {
	append(text: string): Promise<void>;
	/** The same of a text that is too long to be held whole, in several writes; no other append comes in between. */
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
	/** The path was resolved: a link on it has been put there since, and fails the replacement with `ELOOP`. */
	readonly withoutLinks?: boolean;
}

/**
 * Judges a file that was opened by its path with every link resolved, before anything of it is read. What it throws is the
 * failure of the read.
 */
export type Admit = (resolvedPath: string) => Promise<void>;

/**
 * Reading waits for nobody: what is no regular file, but for the null device, is refused with EINVAL, and what the kernel
 * shows as one (below `/proc`) is read as far as it has something to give.
 */
export interface Files {
	/** The same files, of which only what is admitted is read. What is opened is judged, not what was there before. */
	admitting(admit: Admit): Files;
	/** The whole file; null when there is none. */
	read(path: string): Promise<Buffer | null>;
	/** At most `length` bytes from `offset`; null when there is no file. */
	readRange(path: string, offset: number, length: number): Promise<Buffer | null>;
	/** The bytes in pieces, read as they are asked for; nothing when there is no file. */
	readPieces(path: string): AsyncIterable<Buffer>;
	/** Follows symbolic links; null when nothing is there. */
	status(path: string): Promise<FileStatus | null>;
	list(path: string): Promise<DirectoryEntry[]>;
	/** The path with every symbolic link resolved; a missing tail is kept as spelled. */
	resolve(path: string): Promise<string>;
	/**
	 * Makes the directory and its parents; fine when it exists. `mode` are the permission bits of the directory, if it is
	 * made here; default: 0o777 less the umask, as for the parents.
	 */
	makeDirectory(path: string, mode?: number): Promise<void>;
	/** Writes a temporary file beside `path` and renames it over it: readers see the old or the new, never a part. */
	replace(path: string, content: string | Uint8Array, options?: ReplaceOptions): Promise<void>;
	/**
	 * The same, of content that comes in pieces and is never held whole. When getting a piece fails, nothing has changed
	 * and the failure is passed on.
	 */
	replaceByPieces(path: string, pieces: AsyncIterable<Uint8Array>, options?: ReplaceOptions): Promise<void>;
	/** Creates the file with this content; false when it exists already. */
	create(path: string, content: string): Promise<boolean>;
	rename(from: string, to: string): Promise<void>;
	/** Cuts the file to `length` bytes. */
	truncate(path: string, length: number): Promise<void>;
	openAppend(path: string): Promise<AppendFile>;
	/** Puts the names in a directory on stable storage: files made, renamed and removed there. */
	syncDirectory(path: string): Promise<void>;
	/** Removes a file or a whole directory; fine when it is gone. */
	remove(path: string): Promise<void>;
}
