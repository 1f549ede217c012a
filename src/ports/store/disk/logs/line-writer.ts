// An append-only JSON lines file: appends whole lines in order, repairs its end, syncs on demand. Its users define the lines.
import { KernelError } from "../../../../base/errors.ts";
import { joinLines, type LineText, wholeText } from "../../../../base/text/long-text.ts";
import type { AppendFile, FileStatus } from "../../../files/port.ts";
import { parseLine, readTail } from "./json-lines.ts";
import type { LineFile, LineFileOptions } from "./line-file.ts";
import { toStorageError } from "./storage-error.ts";

interface Appended {
	readonly start: number;
	readonly before: string;
	readonly text: LineText;
}

/** Opens, creates and repairs nothing before the first append. */
export function createLineFile(options: LineFileOptions): LineFile {
	return new LineWriter(options);
}

/** A class, because each loaded session has several: closures would take several times the memory. */
class LineWriter implements LineFile {
	readonly #options: LineFileOptions;
	#knownSize: number;
	#handle: AppendFile | null = null;
	#unsynced = false;
	#isShared = false;
	#seen: FileStatus | null = null;
	#whole: FileStatus | null;
	/** Whether all appended lines are complete, with no other write since. */
	#endsWhole = false;
	/** Remains of a failed append, and their position. */
	#failed: Appended | null = null;
	#lastAppended: Appended | null = null;
	#last: Promise<unknown> = Promise.resolve();

	constructor(options: LineFileOptions) {
		this.#options = options;
		this.#knownSize = options.knownSize;
		this.#whole = options.wholeAt ?? null;
	}

	get length(): number {
		return this.#knownSize;
	}

	get whole(): FileStatus | null {
		return this.#whole;
	}

	isShared(): Promise<boolean> {
		return this.#inOrder(async () => {
			const { files, path } = this.#options;
			const status = await files.status(path);
			this.#isShared ||= (status?.size ?? 0) !== this.#knownSize;
			if (!this.#isShared && this.#endsWhole) this.#whole = status;
			return this.#isShared;
		});
	}

	append(lines: readonly LineText[]): Promise<void> {
		return this.#inOrder(async () => {
			if (lines.length === 0) return;
			const { path, prepare, isReplaceable } = this.#options;
			// Check an open file in parallel, because each of the two calls occupies a thread for a while.
			const checking = this.#handle === null || isReplaceable === true ? null : this.#checkedSize();
			checking?.catch(() => undefined);
			await prepare();
			try {
				await this.#appendText(lines, checking);
			} catch (thrown) {
				// Reopened next time, so that the end of the file is checked again.
				await this.#cutAtOnce().catch(() => undefined);
				throw toStorageError(path, thrown);
			}
		});
	}

	undo(): Promise<void> {
		return this.#inOrder(async () => {
			this.#failed = this.#lastAppended;
			this.#lastAppended = null;
			await this.#storing(() => this.#cutAtOnce());
		});
	}

	repairEnd(): Promise<void> {
		return this.#inOrder(async () => {
			const { files, path } = this.#options;
			try {
				const end = await this.#repairedEnd(await this.#cutFailed(await this.#checkedSize()));
				this.#knownSize = end.size;
				if (end.separator === "") return;
				this.#handle ??= await files.openAppend(path);
				await this.#handle.append(end.separator);
				this.#knownSize += end.separator.length;
			} catch (thrown) {
				await this.#closeHandle().catch(() => undefined);
				throw toStorageError(path, thrown);
			}
		});
	}

	rewrite(pieces: AsyncIterable<Uint8Array>, sync = false): Promise<void> {
		return this.#inOrder(async () => {
			const { files, path, prepare, nameMade } = this.#options;
			await prepare();
			await this.#storing(async () => {
				this.#endsWhole = false;
				await this.#closeHandle();
				await files.replaceByPieces(path, pieces, { sync });
				nameMade();
				this.#failed = null;
				this.#lastAppended = null;
				this.#unsynced = !sync;
				this.#knownSize = (await files.status(path))?.size ?? 0;
			});
		});
	}

	prepend(line: LineText): Promise<void> {
		return this.#inOrder(async () => {
			const { files, path, prepare, nameMade } = this.#options;
			await prepare();
			await this.#storing(async () => {
				await this.#checkedSize();
				this.#endsWhole = false;
				await this.#closeHandle();
				const content = (await files.read(path)) ?? Buffer.alloc(0);
				const changed = Buffer.concat([Buffer.from(`${wholeText(line)}\n`), content]);
				await files.replace(path, changed);
				nameMade();
				this.#knownSize = changed.length;
				this.#unsynced = true;
			});
		});
	}

	rotate(lines: readonly LineText[], aside: () => Promise<string>, sync = true): Promise<void> {
		return this.#inOrder(async () => {
			const { files, path, prepare } = this.#options;
			await prepare();
			await this.#storing(async () => {
				await this.#cutFailed(await this.#checkedSize());
				this.#endsWhole = false;
				await this.#closeHandle();
				const content = await files.read(path);
				if (content !== null) await files.replace(await aside(), content, { sync });
				const text = lines.map((line) => `${wholeText(line)}\n`).join("");
				await files.replace(path, text, { sync });
				this.#knownSize = Buffer.byteLength(text);
				this.#unsynced = !sync;
				this.#lastAppended = null;
			});
		});
	}

	sync(): Promise<void> {
		return this.#inOrder(async () => {
			if (!this.#unsynced) return;
			await this.#storing(() => this.#syncFile());
			this.#unsynced = false;
		});
	}

	close(): Promise<void> {
		return this.#inOrder(async () => {
			// A session may have any number of subagents, each with two closed files.
			this.#lastAppended = null;
			if (this.#handle === null) return;
			await this.#closeHandle();
			const { files, path } = this.#options;
			// Reopening it need not read its end again.
			if (!this.#endsWhole) return;
			const status = await files.status(path);
			this.#whole = status?.size === this.#knownSize ? status : null;
		});
	}

	#inOrder<T>(work: () => Promise<T>): Promise<T> {
		const next = this.#last.then(work, work);
		this.#last = next.catch(() => undefined);
		return next;
	}

	async #storing(work: () => Promise<void>): Promise<void> {
		try {
			await work();
		} catch (thrown) {
			throw toStorageError(this.#options.path, thrown);
		}
	}

	async #closeHandle(): Promise<void> {
		const open = this.#handle;
		this.#handle = null;
		await open?.close();
	}

	async #checkedSize(): Promise<number> {
		const { files, path } = this.#options;
		const status = await files.status(path);
		this.#seen = status;
		const size = status?.size ?? 0;
		if (size < this.#knownSize) {
			throw new KernelError("storage-failed", `Cannot write ${path}: it was removed while the session was open.`);
		}
		if (size > this.#knownSize && this.#failed === null) this.#isShared = true;
		return size;
	}

	/** Truncates the remains of a failed append, including complete lines: the caller was told that they are not stored. */
	async #cutFailed(size: number): Promise<number> {
		if (this.#failed === null) return size;
		const { files, path } = this.#options;
		const { start, before, text } = this.#failed;
		const bytes = Buffer.from(before + wholeText(text));
		const found = (await files.readRange(path, start, bytes.length + 1)) ?? Buffer.alloc(0);
		const isOurs = found.length > 0 && bytes.subarray(0, found.length).equals(found);
		if (isOurs) await files.truncate(path, start);
		this.#failed = null;
		return isOurs ? start : size;
	}

	/** As soon as possible: a later run would consider the lines stored. */
	async #cutAtOnce(): Promise<void> {
		this.#endsWhole = false;
		await this.#closeHandle().catch(() => undefined);
		if (this.#failed === null) return;
		const { files, path } = this.#options;
		const size = (await files.status(path))?.size ?? 0;
		this.#knownSize = Math.min(this.#knownSize, await this.#cutFailed(size));
	}

	/** Truncates a partial last line; returns the resulting size and the separator needed before the next line. */
	async #repairedEnd(size: number): Promise<{ size: number; separator: string }> {
		const { files, path, log } = this.#options;
		const seen = this.#seen;
		const isKnown = seen !== null && this.#whole !== null && size === seen.size && isSame(seen, this.#whole);
		const tail = isKnown ? Buffer.alloc(0) : await readTail(files, path, size);
		if (tail.length === 0) {
			this.#whole = size === seen?.size ? seen : null;
			return { size, separator: "" };
		}
		// A complete record without a newline is valid: every reader accepts it.
		if (parseLine(tail.toString("utf8")) !== null) return { size, separator: "\n" };
		const rest = size - tail.length;
		await files.truncate(path, rest);
		this.#knownSize = rest;
		log.warn("a half-written last line was cut off", { path, offset: rest, base64: tail.toString("base64") });
		return { size: rest, separator: "" };
	}

	async #appendText(lines: readonly LineText[], checking: Promise<number> | null): Promise<void> {
		const { files, path, header, isReplaceable, nameMade } = this.#options;
		const isTrusted = this.#handle !== null && isReplaceable === true;
		let size = isTrusted ? this.#knownSize : await (checking ?? this.#checkedSize());
		let before = "";
		if (this.#handle === null) {
			const end = await this.#repairedEnd(await this.#cutFailed(size));
			size = end.size;
			before = size === 0 && header !== undefined ? `${header}\n` : end.separator;
			this.#handle = await files.openAppend(path);
			if (this.#seen === null) nameMade();
		}
		const handle = this.#handle;
		const joined = joinLines(lines, "\n");
		const isShort = typeof joined === "string";
		try {
			await (isShort ? handle.append(before + joined) : handle.appendPieces(withBefore(before, joined)));
		} catch (thrown) {
			this.#failed = { start: size, before, text: joined };
			throw thrown;
		}
		// Appends to a replaceable file are never taken back, so nothing is kept.
		this.#lastAppended = isReplaceable === true ? null : { start: size, before, text: joined };
		this.#endsWhole = true;
		this.#unsynced = true;
		this.#knownSize = isShort ? size + Buffer.byteLength(before + joined) : ((await files.status(path))?.size ?? 0);
	}

	async #syncFile(): Promise<void> {
		if (this.#handle !== null) return this.#handle.sync();
		const { files, path } = this.#options;
		// The file's end is checked before an append, not here: the handle is not kept open.
		const file = await files.openAppend(path);
		try {
			await file.sync();
		} finally {
			await file.close();
		}
	}
}

function isSame(one: FileStatus, other: FileStatus): boolean {
	return one.size === other.size && one.modifiedAt === other.modifiedAt;
}

function withBefore(before: string, text: Iterable<string>): Iterable<string> {
	return {
		*[Symbol.iterator]() {
			yield before;
			yield* text;
		},
	};
}
