// All file access goes through this port, so that tests can count and fail it. Errors are Node's own.

export interface FileStatus {
	readonly kind: "file" | "directory" | "other";
	readonly size: number;
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
	sync(): Promise<void>;
	close(): Promise<void>;
}

export interface ReplaceOptions {
	/** Permission bits of the new file; default: those of the replaced file, or 0o666 less the umask. */
	readonly mode?: number;
	readonly sync?: boolean;
	/** The path is already resolved: a link created there since fails the replacement with `ELOOP`. */
	readonly withoutLinks?: boolean;
	/** Writes in place if a rename is impossible or would break hard links; a crash may then leave partial content. */
	readonly inPlaceIfNeeded?: boolean;
}

/** Checks an opened file by its resolved path before it is read. The read fails with any error thrown. */
export type Admit = (resolvedPath: string) => Promise<void>;

/** Reads never block: only regular files and the null device, and pseudo files up to the data they return. */
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
	/** `mode` is for a directory created here (default 0o777 less the umask). Resolves with whether it was created. */
	makeDirectory(path: string, mode?: number): Promise<boolean>;
	/** Readers see the old or the new content, never a part. Keeps user and group unless `mode` is given. */
	replace(path: string, content: string | Uint8Array, options?: ReplaceOptions): Promise<void>;
	/** Like `replace`, never in memory as a whole. If a piece fails, nothing changes. */
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
