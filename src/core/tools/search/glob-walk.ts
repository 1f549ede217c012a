// Walks directories along the steps of patterns (glob-pattern.ts), and returns the first matches.
import path from "node:path";
import type { Clock } from "../../../base/clock.ts";
import { systemErrorCode } from "../../../base/errors.ts";
import { createPace } from "../../../base/pace.ts";
import type { DirectoryEntry, Files } from "../../../ports/files/port.ts";
import type { PatternStep } from "../../patterns/glob-pattern.ts";

/** Directories that are unreadable or removed meanwhile count as empty. */
const skippedErrors: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "EACCES", "EPERM", "ELOOP", "ENAMETOOLONG"]);

export async function listDirectory(files: Files, directory: string): Promise<DirectoryEntry[]> {
	try {
		return await files.list(directory);
	} catch (thrown) {
		if (skippedErrors.has(systemErrorCode(thrown) ?? "")) return [];
		throw thrown;
	}
}

export interface WalkBounds {
	/** Directory entries to visit, each as often as the pattern leads to it. */
	readonly entries: number;
	/** Milliseconds. */
	readonly time: number;
}

export const standardBounds: WalkBounds = { entries: 500_000, time: 20_000 };

export interface WalkOptions {
	readonly includeDirectories: boolean;
	readonly includeFiles: boolean;
	/** How many of the paths to return. */
	readonly retained: number;
	readonly bounds: WalkBounds;
	readonly clock: Pick<Clock, "monotonic">;
	/** Whether a link to this directory, resolved, may be followed. */
	isSearched(resolved: string): Promise<boolean>;
	readonly signal: AbortSignal;
}

export interface WalkResult {
	/** The first paths relative to the root, ordered by names. */
	readonly paths: readonly string[];
	/** How many there are in total. */
	readonly count: number;
	/** Which limit ended the walk early; null when none did. */
	readonly cutBy: keyof WalkBounds | null;
	/** Whether a link was not followed because its target may not be searched. */
	readonly isBarred: boolean;
}

/** Collects the paths below `root` that match any of the patterns. Ends early at its limits and when aborted. */
export async function walkPatterns(
	files: Files,
	root: string,
	patterns: readonly (readonly PatternStep[])[],
	options: WalkOptions,
): Promise<WalkResult> {
	const { bounds, clock, signal } = options;
	const found = new FirstPaths(options.retained);
	/** What one pattern has found, another one may find again. */
	const known = patterns.length > 1 ? new Set<string>() : null;
	let steps: readonly PatternStep[] = [];
	/** Places already visited: several `**` reach one place in many ways. */
	const seen = new Set<string>();
	const deadline = clock.monotonic() + bounds.time;
	const pace = createPace();
	let entries = 0;
	let cutBy: keyof WalkBounds | null = null;
	let isBarred = false;
	/** The directories that were entered, with links resolved: their entries are below them by name. */
	const entered = new Map([["", await files.resolve(root)]]);

	const mayEnter = async (relative: string): Promise<boolean> => {
		if (entered.has(relative)) return true;
		const parent = path.dirname(relative);
		const resolved = await files.resolve(path.join(root, relative));
		const expected = path.join(entered.get(parent === "." ? "" : parent) ?? "", path.basename(relative));
		if (resolved !== expected && !(await options.isSearched(resolved))) {
			isBarred = true;
			return false;
		}
		entered.set(relative, resolved);
		return true;
	};
	const add = (relative: string, isDirectory: boolean): void => {
		const isIncluded = isDirectory ? options.includeDirectories : options.includeFiles;
		if (!isIncluded || known?.has(relative) === true) return;
		known?.add(relative);
		found.add(relative);
	};
	/** Counts an entry; whether to continue the walk. */
	const goOn = async (): Promise<boolean> => {
		await pace.rest();
		entries += 1;
		if (entries > bounds.entries) cutBy ??= "entries";
		else if (clock.monotonic() > deadline) cutBy ??= "time";
		return cutBy === null && !signal.aborted;
	};
	const walk = async (relative: string, isDirectory: boolean, index: number): Promise<void> => {
		const step = steps[index];
		if (step === undefined) {
			if (relative !== "") add(relative, isDirectory);
			return;
		}
		const place = `${index}:${relative}`;
		if (!isDirectory || seen.has(place) || !(await goOn())) return;
		seen.add(place);
		if (!(await mayEnter(relative))) return;
		const directory = path.join(root, relative);
		switch (step.kind) {
			case "name": {
				const status = await files.status(path.join(directory, step.name)).catch(() => null);
				if (status !== null) await walk(path.join(relative, step.name), status.kind === "directory", index + 1);
				return;
			}
			case "match":
				for (const entry of await listDirectory(files, directory)) {
					if (!(await goOn())) return;
					if (!step.matches(entry.name)) continue;
					await walk(path.join(relative, entry.name), entry.kind === "directory", index + 1);
				}
				return;
			case "any-depth":
				await descend(relative, directory, index);
		}
	};
	const descend = async (relative: string, directory: string, index: number): Promise<void> => {
		await walk(relative, true, index + 1);
		const isLast = index === steps.length - 1;
		const resolved = entered.get(relative) ?? directory;
		for (const entry of await listDirectory(files, directory)) {
			if (!(await goOn())) return;
			const child = path.join(relative, entry.name);
			if (entry.kind !== "directory") {
				if (isLast) add(child, false);
				continue;
			}
			// A link to a directory matches, but is not followed: it may lead back up.
			const expected = path.join(resolved, entry.name);
			if ((await files.resolve(path.join(directory, entry.name))) !== expected) {
				if (isLast) add(child, true);
				continue;
			}
			entered.set(child, expected);
			await walk(child, true, index);
		}
	};
	for (steps of patterns) {
		seen.clear();
		await walk("", true, 0);
	}
	return { paths: found.sorted(), count: found.count, cutBy, isBarred };
}

/** The first of many different paths, of which only a limited number is held. */
class FirstPaths {
	count = 0;
	readonly #retained: number;
	#keys: string[] = [];

	constructor(retained: number) {
		this.#retained = retained;
	}

	add(relative: string): void {
		this.count += 1;
		// Sorted name by name, so that the content of a directory follows it directly.
		this.#keys.push(relative.replaceAll("/", "\0"));
		if (this.#keys.length >= this.#retained * 4) this.#cut();
	}

	sorted(): string[] {
		this.#cut();
		return this.#keys.map((key) => key.replaceAll("\0", "/"));
	}

	#cut(): void {
		this.#keys = this.#keys.sort().slice(0, this.#retained);
	}
}
