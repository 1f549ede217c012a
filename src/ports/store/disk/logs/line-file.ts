// The interface of an append-only JSON lines file.
import type { Log } from "../../../../base/log.ts";
import type { LineText } from "../../../../base/text/long-text.ts";
import type { FileStatus, Files } from "../../../files/port.ts";

export interface LineFile {
	/** Its size in bytes after the last change made here. */
	readonly length: number;
	/** Whether another program has changed it since the session was opened. */
	isShared(): Promise<boolean>;
	/** Its status when it last ended with a complete line; null if unknown. */
	readonly whole: FileStatus | null;
	/** Appends the lines with one write; writes nothing for an empty list. Fails `storage-failed`. */
	append(lines: readonly LineText[]): Promise<void>;
	/** Inserts a line at the start by replacing the file once. Fails `storage-failed`. */
	prepend(line: LineText): Promise<void>;
	/**
	 * Replaces all lines with one file replacement, after copying the file to the path returned by `aside`. Syncs both, unless
	 * `sync` is false. On `storage-failed` the file is unchanged.
	 */
	rotate(lines: readonly LineText[], aside: () => Promise<string>, sync?: boolean): Promise<void>;
	/** Replaces the whole file; `sync` puts it on stable storage. On `storage-failed` nothing has changed. */
	rewrite(pieces: AsyncIterable<Uint8Array>, sync?: boolean): Promise<void>;
	/** Repairs the end of the file as an append does. Fails `storage-failed`. */
	repairEnd(): Promise<void>;
	/**
	 * Takes back the last append, as if it had failed; not for replaceable files, nor after closing. On `storage-failed` the next
	 * append does it.
	 */
	undo(): Promise<void>;
	/** Syncs appended lines to stable storage. Fails `storage-failed`. */
	sync(): Promise<void>;
	close(): Promise<void>;
}

export interface LineFileOptions {
	readonly files: Files;
	readonly log: Log;
	readonly path: string;
	/** Its size when the session was opened: a shorter file was modified by another program. */
	readonly knownSize: number;
	/** Its status when it was seen to end with a complete line: while unchanged, its end is not read again. */
	readonly wholeAt?: FileStatus | null;
	/** The first line of a new or empty file. */
	readonly header?: string;
	/** Whether the file can be rebuilt: then it is not checked before each append. Default false. */
	readonly isReplaceable?: boolean;
	/** Runs before each append and replacement, which fails with any error thrown. */
	prepare(): Promise<void>;
	/** Called after the file was created or replaced, when its name is not yet on stable storage. */
	nameMade(): void;
}
