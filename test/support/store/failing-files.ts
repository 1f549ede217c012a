// A file port that counts effects and goes wrong at a chosen one: fails with a system error, or stops for good as a
// killed process does. Reads are not effects.
import { dirname, join } from "node:path";
import type { AppendFile, Files } from "../../../src/ports/files/port.ts";
import { temporaryName } from "../../../src/ports/files/temporaries.ts";

export type EffectKind =
	| "make-directory"
	| "replace"
	| "create"
	| "rename"
	| "truncate"
	| "open-append"
	| "append"
	| "sync"
	| "remove";

export interface Effect {
	/** Counts from 1 over the port and the files opened through it. */
	readonly n: number;
	readonly kind: EffectKind;
	readonly path: string;
}

export type SystemErrorCode = "ENOSPC" | "EACCES" | "EROFS" | "EIO";

/**
 * `fail`: the effect rejects with the error, nothing is changed (or, for an append with `half`, half of the text is
 * written first and stays). `stop`: this effect and all later ones never settle or reject with `StoppedError`; `when`
 * says how much of this one is done.
 */
export type Mishap =
	| { readonly kind: "fail"; readonly code: SystemErrorCode; readonly half?: boolean; readonly once?: boolean }
	| {
			readonly kind: "stop";
			readonly when: "before" | "half-way" | "after";
			readonly manner: "hang" | "throw";
	  };

/** What a stopped port throws: nothing after it happened. */
export class StoppedError extends Error {
	override readonly name = "StoppedError";
}

export interface FailingFiles {
	readonly files: Files;
	/** Every effect asked for so far, in order. */
	readonly effects: readonly Effect[];
	/** Whether the mishap has happened. */
	readonly struck: boolean;
}

export interface Plan {
	/** Which effect goes wrong; by number from 1, or by a predicate. */
	readonly at: number | ((effect: Effect) => boolean);
	readonly mishap: Mishap;
	/** Called at the moment it strikes: from then on a stopped process does nothing more. */
	readonly onStruck?: () => void;
}

function systemError(code: SystemErrorCode, { kind, path }: Effect): Error {
	return Object.assign(new Error(`${code}: simulated failure, ${kind} '${path}'`), { code, path });
}

interface Work<T> {
	perform(): Promise<T>;
	/** Does a part of the effect, where it has parts. */
	performHalf?(): Promise<unknown>;
	/** Releases what was made, as the end of a process does. */
	abandon?(made: T): Promise<unknown>;
}

/** Wraps a port. Without a plan it only counts. With `fail` and not `once`, every effect from that one on fails. */
export function createFailingFiles(inner: Files, plan: Plan | null = null): FailingFiles {
	const effects: Effect[] = [];
	let struck = false;
	let stopped = false;

	const halt = <T>(manner: "hang" | "throw"): Promise<T> =>
		manner === "hang" ? new Promise<T>(() => {}) : Promise.reject(new StoppedError("The files have stopped."));

	const strikes = (effect: Effect, { at, mishap }: Plan): boolean => {
		if (struck) return mishap.kind === "fail" && mishap.once !== true;
		return typeof at === "number" ? effect.n === at : at(effect);
	};

	const run = async <T>(kind: EffectKind, path: string, work: Work<T>): Promise<T> => {
		const effect: Effect = { n: effects.length + 1, kind, path };
		effects.push(effect);
		if (plan === null) return work.perform();
		const { mishap } = plan;
		if (stopped && mishap.kind === "stop") return halt(mishap.manner);
		if (!strikes(effect, plan)) return work.perform();
		struck = true;
		if (mishap.kind === "fail") {
			plan.onStruck?.();
			if (mishap.half === true) await work.performHalf?.();
			throw systemError(mishap.code, effect);
		}
		stopped = true;
		try {
			if (mishap.when === "half-way") await work.performHalf?.();
			if (mishap.when === "after") await work.abandon?.(await work.perform());
		} catch {
			// An effect that fails anyway is one to stop at as well.
		}
		plan.onStruck?.();
		return halt(mishap.manner);
	};

	const wrapAppend = (path: string, file: AppendFile): AppendFile => ({
		append: (text) =>
			run("append", path, {
				perform: () => file.append(text),
				performHalf: () => file.append(text.slice(0, Math.ceil(text.length / 2))),
			}),
		appendPieces: (pieces) =>
			run("append", path, {
				perform: () => file.appendPieces(pieces),
				performHalf: () => {
					const text = [...pieces].join("");
					return file.append(text.slice(0, Math.ceil(text.length / 2)));
				},
			}),
		sync: () => run("sync", path, { perform: () => file.sync() }),
		close: () => file.close(),
	});

	const files: Files = {
		admitting(admit) {
			const { read, readRange, readPieces } = inner.admitting(admit);
			return { ...files, read, readRange, readPieces };
		},
		read: (path, limit) => inner.read(path, limit),
		readRange: (path, offset, length) => inner.readRange(path, offset, length),
		readPieces: (path) => inner.readPieces(path),
		status: (path) => inner.status(path),
		list: (path) => inner.list(path),
		resolve: (path) => inner.resolve(path),
		makeDirectory: (path, mode) => run("make-directory", path, { perform: () => inner.makeDirectory(path, mode) }),
		replace: (path, content, options) =>
			run("replace", path, {
				perform: () => inner.replace(path, content, options),
				// What a crash before the rename leaves on disk.
				performHalf: () =>
					inner.create(
						join(dirname(path), temporaryName()),
						Buffer.from(content)
							.toString()
							.slice(0, content.length / 2),
					),
			}),
		replaceByPieces: (path, pieces, options) =>
			run("replace", path, { perform: () => inner.replaceByPieces(path, pieces, options) }),
		create: (path, content) =>
			run("create", path, {
				perform: () => inner.create(path, content),
				performHalf: () => inner.create(path, content.slice(0, content.length / 2)),
			}),
		rename: (from, to) => run("rename", from, { perform: () => inner.rename(from, to) }),
		truncate: (path, length) => run("truncate", path, { perform: () => inner.truncate(path, length) }),
		openAppend: (path) =>
			run("open-append", path, {
				perform: async () => wrapAppend(path, await inner.openAppend(path)),
				abandon: (file) => file.close(),
			}),
		syncDirectory: (path) => run("sync", path, { perform: () => inner.syncDirectory(path) }),
		remove: (path) => run("remove", path, { perform: () => inner.remove(path) }),
	};

	return {
		files,
		effects,
		get struck() {
			return struck;
		},
	};
}
