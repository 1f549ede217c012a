// An append-only file of JSON lines, as its users see it.
import type { Log } from "../../../../base/log.ts";
import type { LineText } from "../../../../base/text/long-text.ts";
import type { FileStatus, Files } from "../../../files/port.ts";

export interface LineFile {
	/** Its size in bytes as of the last call that changed it. */
	readonly length: number;
	/** Whether somebody else has changed it since the session was opened. */
	isShared(): Promise<boolean>;
	/** How it was when it was last seen to end with a whole line; null when that is not known. */
	readonly whole: FileStatus | null;
	/** Appends the lines with one write; nothing is written for none. Fails `storage-failed`. */
	append(lines: readonly LineText[]): Promise<void>;
	/** Adds a line before everything else, by replacing the file once. Fails `storage-failed`. */
	prepend(line: LineText): Promise<void>;
	/**
	 * Replaces all lines, with one replacement of the file, after copying it to the path that `aside` returns. Both are
	 * then on stable storage, unless `sync` is false. Fails `storage-failed`, and then the file is unchanged.
	 */
	rotate(lines: readonly LineText[], aside: () => Promise<string>, sync?: boolean): Promise<void>;
	/** Replaces the whole file; with `sync` it is then on stable storage. Fails `storage-failed`, and nothing has changed. */
	rewrite(pieces: AsyncIterable<Uint8Array>, sync?: boolean): Promise<void>;
	/** Repairs the end of the file as an append does before its lines. Fails `storage-failed`. */
	repairEnd(): Promise<void>;
	/**
	 * Takes the last append back, as if it had failed; not for a file that can be made again, nor once it was closed. Fails
	 * `storage-failed`: the next append does it then.
	 */
	undo(): Promise<void>;
	/** Puts what was appended on stable storage. Fails `storage-failed`. */
	sync(): Promise<void>;
	close(): Promise<void>;
}

export interface LineFileOptions {
	readonly files: Files;
	readonly log: Log;
	readonly path: string;
	/** Its size when the session was opened: a file that is shorter later was modified by somebody else. */
	readonly knownSize: number;
	/** How it was when it was seen to end with a whole line: as long as it is so, its end is not read again. */
	readonly wholeAt?: FileStatus | null;
	/** The first line of a file that is new or empty. */
	readonly header?: string;
	/** Whether the file can be made again: then it is not looked at before each append. Default false. */
	readonly isReplaceable?: boolean;
	/** Runs before each append and each replacement; what it throws is the failure of that. */
	prepare(): Promise<void>;
	/** Called when the file was created or replaced: its name is then not on stable storage. */
	nameMade(): void;
}
