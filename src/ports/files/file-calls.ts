// Node's callback API as promises: `node:fs/promises` takes the event loop two to three times as long per call.
import {
	type BigIntStats,
	close,
	fchmod,
	fchown,
	fdatasync,
	fstat,
	fsync,
	ftruncate,
	lstat,
	open,
	read,
	readlink,
	realpath,
	rename,
	type Stats,
	stat,
	unlink,
	write,
} from "node:fs";

type Done = (error: Error | null) => void;

function call(work: (done: Done) => void): Promise<void> {
	return new Promise((resolve, reject) => {
		work((error) => (error === null ? resolve() : reject(error)));
	});
}

/** An open file. Every call rejects with Node's errors. */
export class OpenFile {
	readonly descriptor: number;
	#running = 0;
	#closed: Promise<void> | null = null;
	#allAnswered: (() => void) | null = null;

	constructor(descriptor: number) {
		this.descriptor = descriptor;
	}

	/** Resolves with the number of bytes read, 0 at the end. A null position means the current one. */
	read(bytes: Uint8Array, offset: number, length: number, position: number | null): Promise<number> {
		return this.#run((resolve, reject) => {
			read(this.descriptor, bytes, offset, length, position, (error, count) =>
				error === null ? resolve(count) : reject(error),
			);
		});
	}

	/** Resolves with the number of bytes written, which may be fewer than given. A null position means the current one. */
	write(bytes: Uint8Array, offset: number, length: number, position: number | null = null): Promise<number> {
		return this.#run((resolve, reject) => {
			write(this.descriptor, bytes, offset, length, position, (error, count) =>
				error === null ? resolve(count) : reject(error),
			);
		});
	}

	status(): Promise<Stats> {
		return this.#run((resolve, reject) => {
			fstat(this.descriptor, (error, status) => (error === null ? resolve(status) : reject(error)));
		});
	}

	exactStatus(): Promise<BigIntStats> {
		return this.#run((resolve, reject) => {
			fstat(this.descriptor, { bigint: true }, (error, status) => (error === null ? resolve(status) : reject(error)));
		});
	}

	sync(): Promise<void> {
		return this.#do((done) => fsync(this.descriptor, done));
	}

	/** Its resolved path, where the system says it; null elsewhere, and if the file was removed or has no path. */
	async resolvedPath(): Promise<string | null> {
		if (process.platform !== "linux") return null;
		const resolved = await this.#run<string | null>((resolve) => {
			readlink(`/proc/self/fd/${this.descriptor}`, (error, target) => resolve(error === null ? target : null));
		});
		return resolved === null || !resolved.startsWith("/") || resolved.endsWith(" (deleted)") ? null : resolved;
	}

	syncContent(): Promise<void> {
		return this.#do((done) => fdatasync(this.descriptor, done));
	}

	truncate(length: number): Promise<void> {
		return this.#do((done) => ftruncate(this.descriptor, length, done));
	}

	changeMode(mode: number): Promise<void> {
		return this.#do((done) => fchmod(this.descriptor, mode, done));
	}

	changeOwner(user: number, group: number): Promise<void> {
		return this.#do((done) => fchown(this.descriptor, user, group, done));
	}

	/** Waits for calls in progress, because the system may then reuse the descriptor for another file. Later calls fail. */
	close(): Promise<void> {
		this.#closed ??= this.#close();
		return this.#closed;
	}

	async #close(): Promise<void> {
		if (this.#running > 0) await new Promise<void>((resolve) => (this.#allAnswered = resolve));
		await call((done) => close(this.descriptor, done));
	}

	#do(work: (done: Done) => void): Promise<void> {
		return this.#run((resolve, reject) => work((error) => (error === null ? resolve() : reject(error))));
	}

	#run<T>(work: (resolve: (value: T) => void, reject: (error: Error) => void) => void): Promise<T> {
		if (this.#closed !== null) {
			return Promise.reject(Object.assign(new Error("EBADF: the file is closed"), { code: "EBADF" }));
		}
		this.#running += 1;
		return new Promise<T>((resolve, reject) => {
			const fail = (error: unknown): void => {
				this.#answered();
				reject(error);
			};
			try {
				work((value) => {
					this.#answered();
					resolve(value);
				}, fail);
			} catch (thrown) {
				// Node throws synchronously for arguments out of range.
				fail(thrown);
			}
		});
	}

	#answered(): void {
		this.#running -= 1;
		if (this.#running === 0) this.#allAnswered?.();
	}
}

export function openFile(target: string, flags: number | string, mode?: number): Promise<OpenFile> {
	return new Promise((resolve, reject) => {
		open(target, flags, mode ?? 0o666, (error, descriptor) =>
			error === null ? resolve(new OpenFile(descriptor)) : reject(error),
		);
	});
}

export function statusOf(target: string): Promise<Stats> {
	return new Promise((resolve, reject) => {
		stat(target, (error, status) => (error === null ? resolve(status) : reject(error)));
	});
}

export function linkStatusOf(target: string): Promise<Stats> {
	return new Promise((resolve, reject) => {
		lstat(target, (error, status) => (error === null ? resolve(status) : reject(error)));
	});
}

export function exactLinkStatusOf(target: string): Promise<BigIntStats> {
	return new Promise((resolve, reject) => {
		lstat(target, { bigint: true }, (error, status) => (error === null ? resolve(status) : reject(error)));
	});
}

export function resolvedPathOf(target: string): Promise<string> {
	return new Promise((resolve, reject) => {
		realpath.native(target, (error, resolved) => (error === null ? resolve(resolved) : reject(error)));
	});
}

export function renameFile(from: string, to: string): Promise<void> {
	return call((done) => rename(from, to, done));
}

export function removeFile(target: string): Promise<void> {
	return call((done) => unlink(target, done));
}
