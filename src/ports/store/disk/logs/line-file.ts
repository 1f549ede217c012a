import type { Log } from "../../../../base/log.ts";
import type { LineText } from "../../../../base/text/long-text.ts";
import type { FileStatus, Files } from "../../../files/port.ts";

export interface LineFile {
	readonly length: number;
	/** Whether another program has changed it since the session was opened. */
	isShared(): Promise<boolean>;
	/** Its status when it last ended with a complete line; null if unknown. */
	readonly whole: FileStatus | null;
	append(lines: readonly LineText[]): Promise<void>;
	prepend(line: LineText): Promise<void>;
	/** Replaces all lines, after copying the file to the path from `aside`. On `storage-failed` nothing changed. */
	rotate(lines: readonly LineText[], aside: () => Promise<string>, sync?: boolean): Promise<void>;
	/** Replaces the whole file; `sync` puts it on stable storage. On `storage-failed` nothing has changed. */
	rewrite(pieces: AsyncIterable<Uint8Array>, sync?: boolean): Promise<void>;
	/** Repairs the end of the file as an append does. Fails `storage-failed`. */
	repairEnd(): Promise<void>;
	/** Takes back the last append; not for replaceable files or after closing. */
	undo(): Promise<void>;
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
	readonly header?: string;
	/** Whether the file can be rebuilt: then it is not checked before each append. Default false. */
	readonly isReplaceable?: boolean;
	/** Runs before each append and replacement, which fails with any error thrown. */
	prepare(): Promise<void>;
	/** Called after the file was created or replaced, when its name is not yet on stable storage. */
	nameMade(): void;
}
