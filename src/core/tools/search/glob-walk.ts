import path from "node:path";
import type { Clock } from "../../../base/clock.ts";
import { systemErrorCode } from "../../../base/errors.ts";
import { createPace } from "../../../base/pace.ts";
import type { DirectoryEntry, Files } from "../../../ports/files/port.ts";
import type { PatternStep } from "../../patterns/glob-pattern.ts";

/** Unreadable or removed directories count as empty. */
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
	/** Maximum directory entries to visit, counted once per visit. */
	readonly entries: number;
	/** Milliseconds. */
	readonly time: number;
}

export const standardBounds: WalkBounds = { entries: 500_000, time: 20_000 };

export interface WalkOptions {
	readonly includeDirectories: boolean;
	readonly includeFiles: boolean;
	/** Number of paths to return. */
	readonly retained: number;
	readonly bounds: WalkBounds;
	readonly clock: Pick<Clock, "monotonic">;
	/** Whether a link to this resolved directory may be followed. */
	isSearched(resolved: string): Promise<boolean>;
	readonly signal: AbortSignal;
}

export interface WalkResult {
	/** The first paths relative to the root, in name order. */
	readonly paths: readonly string[];
	readonly count: number;
	/** The limit that ended the walk early; null if none. */
	readonly cutBy: keyof WalkBounds | null;
	/** Whether a link was skipped because its target must not be searched. */
	readonly isBarred: boolean;
}

/** Collects paths below `root` that match any pattern. Stops at its limits or on abort. */
export async function walkPatterns(
	files: Files,
	root: string,
	patterns: readonly (readonly PatternStep[])[],
	options: WalkOptions,
): Promise<WalkResult> {
	const found = new FirstPaths(options.retained, patterns.length > 1);
	const walk = new Walk(files, root, options, found);
	for (const steps of patterns) await walk.along(steps);
	return { paths: found.sorted(), count: found.count, cutBy: walk.cutBy, isBarred: walk.isBarred };
}

class Walk {
	cutBy: keyof WalkBounds | null = null;
	isBarred = false;
	readonly #files: Files;
	readonly #root: string;
	readonly #options: WalkOptions;
	readonly #found: FirstPaths;
	readonly #deadline: number;
	readonly #pace = createPace();
	readonly #entered = new Map<string, string>();
	#steps: readonly PatternStep[] = [];
	/** Visited places with their steps: several `**` reach one place in many ways. */
	readonly #seen = new Set<string>();
	#entries = 0;

	constructor(files: Files, root: string, options: WalkOptions, found: FirstPaths) {
		this.#files = files;
		this.#root = root;
		this.#options = options;
		this.#found = found;
		this.#deadline = options.clock.monotonic() + options.bounds.time;
	}

	async along(steps: readonly PatternStep[]): Promise<void> {
		if (!this.#entered.has("")) this.#entered.set("", await this.#files.resolve(this.#root));
		this.#steps = steps;
		this.#seen.clear();
		await this.#walk("", true, 0);
	}

	async #mayEnter(relative: string): Promise<boolean> {
		if (this.#entered.has(relative)) return true;
		const parent = path.dirname(relative);
		const resolved = await this.#files.resolve(path.join(this.#root, relative));
		const expected = path.join(this.#entered.get(parent === "." ? "" : parent) ?? "", path.basename(relative));
		if (resolved !== expected && !(await this.#options.isSearched(resolved))) {
			this.isBarred = true;
			return false;
		}
		this.#entered.set(relative, resolved);
		return true;
	}

	#add(relative: string, isDirectory: boolean): void {
		const { includeDirectories, includeFiles } = this.#options;
		if (isDirectory ? includeDirectories : includeFiles) this.#found.add(relative);
	}

	/** Counts an entry. Returns whether to continue. */
	async #goOn(): Promise<boolean> {
		await this.#pace.rest();
		this.#entries += 1;
		const { bounds, clock, signal } = this.#options;
		if (this.#entries > bounds.entries) this.cutBy ??= "entries";
		else if (clock.monotonic() > this.#deadline) this.cutBy ??= "time";
		return this.cutBy === null && !signal.aborted;
	}

	async #walk(relative: string, isDirectory: boolean, index: number): Promise<void> {
		const step = this.#steps[index];
		if (step === undefined) {
			if (relative !== "") this.#add(relative, isDirectory);
			return;
		}
		const place = `${index}:${relative}`;
		if (!isDirectory || this.#seen.has(place) || !(await this.#goOn())) return;
		this.#seen.add(place);
		if (!(await this.#mayEnter(relative))) return;
		const directory = path.join(this.#root, relative);
		switch (step.kind) {
			case "name": {
				const status = await this.#files.status(path.join(directory, step.name)).catch(() => null);
				if (status !== null) await this.#walk(path.join(relative, step.name), status.kind === "directory", index + 1);
				return;
			}
			case "match":
				for (const entry of await listDirectory(this.#files, directory)) {
					if (!(await this.#goOn())) return;
					if (!step.matches(entry.name)) continue;
					await this.#walk(path.join(relative, entry.name), entry.kind === "directory", index + 1);
				}
				return;
			case "any-depth":
				await this.#descend(relative, directory, index);
		}
	}

	async #descend(relative: string, directory: string, index: number): Promise<void> {
		await this.#walk(relative, true, index + 1);
		const isLast = index === this.#steps.length - 1;
		const resolved = this.#entered.get(relative) ?? directory;
		for (const entry of await listDirectory(this.#files, directory)) {
			if (!(await this.#goOn())) return;
			const child = path.join(relative, entry.name);
			if (entry.kind !== "directory") {
				if (isLast) this.#add(child, false);
				continue;
			}
			// A link to a directory matches but is not followed, because it may lead back up.
			const expected = path.join(resolved, entry.name);
			if ((await this.#files.resolve(path.join(directory, entry.name))) !== expected) {
				if (isLast) this.#add(child, true);
				continue;
			}
			this.#entered.set(child, expected);
			await this.#walk(child, true, index);
		}
	}
}

class FirstPaths {
	count = 0;
	readonly #retained: number;
	/** Null if no path can be added twice. */
	readonly #known: Set<string> | null;
	#keys: string[] = [];

	constructor(retained: number, hasRepetitions: boolean) {
		this.#retained = retained;
		this.#known = hasRepetitions ? new Set() : null;
	}

	add(relative: string): void {
		if (this.#known?.has(relative) === true) return;
		this.#known?.add(relative);
		this.count += 1;
		// Sorts by name segments, so that a directory's contents directly follow it.
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
