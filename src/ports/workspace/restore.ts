// Restores listed paths only. Persists the plan with all contents first: if the process is killed, the next one completes it.
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import {
	chmod,
	lstat,
	mkdir,
	open,
	readFile,
	realpath,
	rename,
	rmdir,
	symlink,
	unlink,
	writeFile,
} from "node:fs/promises";
import path from "node:path";
import * as v from "valibot";
import { errorText, isSystemError, systemErrorCode } from "../../base/errors.ts";
import { type Entry, type FileEntry, isSameEntry } from "./entry.ts";
import { entrySchema } from "./history-log.ts";
import { look } from "./walk.ts";

const stepSchema = v.object({ path: v.string(), target: entrySchema, was: entrySchema, temporary: v.string() });
const listSchema = v.object({ id: v.string(), at: v.number(), steps: v.array(stepSchema) });

/** One path to restore: its target state and its state before. */
export type RestoreStep = v.InferOutput<typeof stepSchema>;
export type RestoreList = v.InferOutput<typeof listSchema>;

export interface RestoreServices {
	/** The bytes of a content; null if lost. */
	content(entry: FileEntry): Promise<Buffer | null>;
	capture(target: string): Promise<Entry | null>;
}

/** An untouched path with the reason, a clause without a period. */
export interface LeftPath {
	readonly path: string;
	readonly reason: string;
}

/** Temporary file next to the file it replaces. */
export function temporaryName(target: string): string {
	return path.join(path.dirname(target), `.agentwire-restore-${randomBytes(6).toString("hex")}`);
}

/** Persists the list, surviving crashes and power loss. */
export async function writeList(file: string, list: RestoreList): Promise<void> {
	const temporary = `${file}.tmp`;
	await writeFile(temporary, JSON.stringify(list), { mode: 0o600 });
	await syncPath(temporary);
	await rename(temporary, file);
	await syncPath(path.dirname(file));
}

/** The list left by a killed process, or null. A partly written list was not started. */
export async function readList(file: string): Promise<RestoreList | null> {
	let text: string;
	try {
		text = await readFile(file, "utf8");
	} catch (thrown) {
		if (systemErrorCode(thrown) === "ENOENT") return null;
		throw thrown;
	}
	try {
		return v.parse(listSchema, JSON.parse(text));
	} catch {
		return null;
	}
}

export async function removeList(file: string): Promise<void> {
	await unlink(file);
}

/** Repeatable after a crash: leaves and returns paths that are in neither their earlier nor their target state. */
export async function carryOut(steps: readonly RestoreStep[], services: RestoreServices): Promise<readonly LeftPath[]> {
	const run = new RestoreRun(services);
	const deepestFirst = steps.toSorted((one, other) => other.path.length - one.path.length);
	const shallowFirst = steps.toSorted((one, other) => one.path.length - other.path.length);
	for (const step of steps) await unlink(step.temporary).catch(() => undefined);
	try {
		for (const step of deepestFirst) {
			if (step.was !== null && step.was.kind !== "directory" && step.target?.kind !== step.was.kind) {
				await run.attempt(step, () => run.removeFile(step));
			}
		}
		for (const step of deepestFirst) {
			if (step.was?.kind === "directory" && step.target?.kind !== "directory") {
				await run.attempt(step, () => run.removeDirectory(step));
			}
		}
		for (const step of shallowFirst) {
			if (step.target?.kind === "directory") await run.attempt(step, () => run.makeDirectory(step));
		}
		for (const step of shallowFirst) {
			const { target } = step;
			if (target?.kind === "file") await run.attempt(step, () => run.writeFile(step, target));
			else if (target?.kind === "link") await run.attempt(step, () => run.writeLink(step, target.target));
		}
	} finally {
		await run.finishDirectories(deepestFirst);
	}
	return run.left;
}

class RestoreRun {
	readonly #services: RestoreServices;
	readonly #left = new Map<string, string>();
	/** Original modes of directories made writable. */
	readonly #modes = new Map<string, number>();

	constructor(services: RestoreServices) {
		this.#services = services;
	}

	get left(): readonly LeftPath[] {
		return [...this.#left].map(([target, reason]) => ({ path: target, reason }));
	}

	/** Runs one step on a path, unless it failed before. */
	async attempt(step: RestoreStep, work: () => Promise<void>): Promise<void> {
		if (this.#left.has(step.path)) return;
		try {
			await work();
		} catch (thrown) {
			if (!isSystemError(thrown)) throw thrown;
			this.#left.set(step.path, errorText(thrown));
		}
	}

	async removeFile(step: RestoreStep): Promise<void> {
		if (look(step.path) === null || !(await this.#isAsItWas(step))) return;
		await this.#inDirectory(step, () => unlink(step.path));
	}

	async removeDirectory(step: RestoreStep): Promise<void> {
		const now = look(step.path);
		if (now?.kind !== "directory") return;
		try {
			await this.#inDirectory(step, () => rmdir(step.path));
		} catch (thrown) {
			const code = systemErrorCode(thrown);
			if (code !== "ENOTEMPTY" && code !== "EEXIST") throw thrown;
			this.#left.set(step.path, "there are other files in the directory");
		}
	}

	async makeDirectory(step: RestoreStep): Promise<void> {
		if (look(step.path)?.kind === "directory") return;
		await this.#inDirectory(step, () => mkdir(step.path, { mode: 0o700 }));
	}

	async writeFile(step: RestoreStep, target: FileEntry): Promise<void> {
		const now = await this.#services.capture(step.path);
		if (isSameEntry(now, target)) return;
		if (now !== null && !isSameEntry(now, step.was)) return this.#keep(step);
		const bytes = await this.#services.content(target);
		if (bytes === null) {
			this.#left.set(step.path, "its content is not stored any more");
			return;
		}
		await this.#inDirectory(step, async () => {
			const handle = await open(step.temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
			try {
				await handle.writeFile(bytes);
				await handle.chmod(target.mode);
				await handle.sync();
			} finally {
				await handle.close();
			}
			await this.#replace(step);
		});
	}

	async writeLink(step: RestoreStep, target: string): Promise<void> {
		const now = await this.#services.capture(step.path);
		if (isSameEntry(now, step.target)) return;
		if (now !== null && !isSameEntry(now, step.was)) return this.#keep(step);
		await this.#inDirectory(step, async () => {
			await symlink(target, step.temporary);
			await this.#replace(step);
		});
	}

	/** Sets the original or target modes of directories. */
	async finishDirectories(deepestFirst: readonly RestoreStep[]): Promise<void> {
		for (const { path: target, target: entry } of deepestFirst) {
			if (entry?.kind === "directory" && look(target)?.kind === "directory") this.#modes.set(target, entry.mode);
		}
		const parents = new Set<string>();
		for (const [directory, mode] of [...this.#modes].toSorted(([one], [other]) => other.length - one.length)) {
			await chmod(directory, mode).catch(() => undefined);
		}
		for (const { path: target } of deepestFirst) parents.add(path.dirname(target));
		for (const directory of parents) await syncPath(directory).catch(() => undefined);
	}

	#keep(step: RestoreStep): void {
		this.#left.set(step.path, "it was changed while the files were restored");
	}

	async #replace(step: RestoreStep): Promise<void> {
		try {
			await rename(step.temporary, step.path);
		} catch (thrown) {
			await unlink(step.temporary).catch(() => undefined);
			throw thrown;
		}
	}

	async #isAsItWas(step: RestoreStep): Promise<boolean> {
		const now = await this.#services.capture(step.path);
		const isIt = isSameEntry(now, step.was);
		if (!isIt && now !== null) this.#keep(step);
		return isIt;
	}

	/** Changes something in the path's directory, which must not be redirected by a link. */
	async #inDirectory(step: RestoreStep, work: () => Promise<void>): Promise<void> {
		const directory = path.dirname(step.path);
		if ((await realpath(directory)) !== directory) {
			this.#left.set(step.path, "a link leads to its directory now");
			return;
		}
		try {
			await work();
		} catch (thrown) {
			if (systemErrorCode(thrown) !== "EACCES") throw thrown;
			await unlink(step.temporary).catch(() => undefined);
			const { mode } = await lstat(directory);
			if (!this.#modes.has(directory)) this.#modes.set(directory, mode & 0o7777);
			await chmod(directory, (mode & 0o7777) | 0o700);
			await work();
		}
	}
}

async function syncPath(target: string): Promise<void> {
	const handle = await open(target, constants.O_RDONLY);
	try {
		await handle.sync();
	} finally {
		await handle.close();
	}
}
