// An unresponsive drive blocks a thread of Node's pool with every call; limits let it block only a few.
import { dirname } from "node:path";
import type { Clock } from "../../base/clock.ts";
import type { AppendFile, Files } from "./port.ts";

export interface FileBounds {
	/** Maximum concurrent calls; each takes one thread. Others wait. */
	readonly places: number;
	readonly clock: Clock;
}

/** Milliseconds after which a call counts as stuck. It occupies its place until it returns. */
const readPatience = 30_000;
const longPatience = 120_000;

interface Call {
	readonly path: string;
	isUnanswered: boolean;
}

interface Waiter {
	start(): void;
	refuse(): void;
}

/** The calls for files in one directory: how many run, and how many of those are stuck. */
interface DirectoryCalls {
	running: number;
	unanswered: number;
}

function timedOut(text: string, name: string, path: string): Error {
	return Object.assign(new Error(`ETIMEDOUT: the file system has not answered for ${text}, ${name} '${path}'`), {
		code: "ETIMEDOUT",
		path,
	});
}

/** Adds limits to a port. Refused calls and timeouts reject with a system error; a change that timed out may still happen. */
export function boundFiles(files: Files, bounds: FileBounds): Files {
	return createBoundPort(files, new BoundCalls(bounds));
}

class BoundCalls {
	readonly #places: number;
	/** Files in one directory are usually on one drive: some places are reserved for other directories. */
	readonly #placesOfDirectory: number;
	readonly #clock: Clock;
	readonly #calls = new Set<Call>();
	#unanswered = 0;
	readonly #directories = new Map<string, DirectoryCalls>();
	/** Waiting calls by directory: directories take turns, and thousands of waiters cost no more than a few. */
	readonly #waiting = new Map<string, Waiter[]>();

	constructor({ places, clock }: FileBounds) {
		this.#places = places;
		this.#placesOfDirectory = Math.max(1, Math.ceil(places / 2));
		this.#clock = clock;
	}

	/** Runs a call within the limits. `late` receives the result of a call that timed out. */
	run<T>(
		name: string,
		path: string,
		patience: number,
		work: () => Promise<T>,
		late: (value: T) => void = () => {},
	): Promise<T> {
		return new Promise((resolve, reject) => {
			const directory = dirname(path);
			const start = (): void => {
				const call: Call = { path, isUnanswered: false };
				const own = this.#enter(call, directory);
				const withdraw = this.#clock.after(
					patience,
					() => {
						call.isUnanswered = true;
						own.unanswered += 1;
						this.#unanswered += 1;
						reject(timedOut(`${patience / 1000} s`, name, path));
						this.#admit();
					},
					true,
				);
				const end = () => {
					withdraw();
					this.#leave(call, directory, own);
				};
				work().then(
					(value) => {
						end();
						if (call.isUnanswered) late(value);
						else resolve(value);
					},
					(thrown: unknown) => {
						end();
						reject(thrown);
					},
				);
			};
			// A stuck path gets no second place.
			if (this.#stuckPaths().includes(path) || this.#isHopeless(directory)) reject(this.#blocked(name, path));
			else if (this.#hasPlace(directory)) start();
			else {
				const waiters = this.#waiting.get(directory) ?? [];
				waiters.push({ start, refuse: () => reject(this.#blocked(name, path)) });
				this.#waiting.set(directory, waiters);
			}
		});
	}

	isStuck(path: string): boolean {
		return this.#stuckPaths().includes(path);
	}

	#stuckPaths(): string[] {
		return this.#unanswered === 0 ? [] : [...this.#calls].filter((call) => call.isUnanswered).map(({ path }) => path);
	}

	#blocked(name: string, path: string): Error {
		const others = [...new Set(this.#stuckPaths())].map((stuck) => `'${stuck}'`).join(", ");
		return timedOut(`${others} yet`, name, path);
	}

	#isDirectoryFull(directory: string): boolean {
		return (this.#directories.get(directory)?.running ?? 0) >= this.#placesOfDirectory;
	}

	/** Whether a new call for this directory would only wait for stuck calls. */
	#isHopeless(directory: string): boolean {
		if (this.#unanswered === 0) return false;
		if (this.#calls.size >= this.#places && this.#unanswered === this.#calls.size) return true;
		const own = this.#directories.get(directory);
		return own !== undefined && this.#isDirectoryFull(directory) && own.unanswered === own.running;
	}

	#hasPlace(directory: string): boolean {
		return this.#calls.size < this.#places && !this.#isDirectoryFull(directory);
	}

	#admit(): void {
		if (this.#unanswered > 0) {
			for (const [directory, waiters] of [...this.#waiting]) {
				if (!this.#isHopeless(directory)) continue;
				this.#waiting.delete(directory);
				for (const { refuse } of waiters) refuse();
			}
		}
		while (this.#calls.size < this.#places) {
			// Few directories can be full at once, so this search is short.
			const found = findFirst(this.#waiting, ([directory]) => !this.#isDirectoryFull(directory));
			if (found === undefined) return;
			const [directory, waiters] = found;
			const next = waiters.shift();
			this.#waiting.delete(directory);
			if (waiters.length > 0) this.#waiting.set(directory, waiters);
			next?.start();
		}
	}

	#enter(call: Call, directory: string): DirectoryCalls {
		const own = this.#directories.get(directory) ?? { running: 0, unanswered: 0 };
		this.#directories.set(directory, own);
		own.running += 1;
		this.#calls.add(call);
		return own;
	}

	#leave(call: Call, directory: string, own: DirectoryCalls): void {
		this.#calls.delete(call);
		own.running -= 1;
		if (call.isUnanswered) {
			own.unanswered -= 1;
			this.#unanswered -= 1;
		}
		if (own.running === 0) this.#directories.delete(directory);
		this.#admit();
	}
}

function findFirst<T>(values: Iterable<T>, fits: (value: T) => boolean): T | undefined {
	for (const value of values) if (fits(value)) return value;
	return undefined;
}

/** Ports with the same calls share their places. */
function createBoundPort(files: Files, calls: BoundCalls): Files {
	const toBounded = (file: AppendFile, path: string): AppendFile => ({
		append: (text) => calls.run("append", path, longPatience, () => file.append(text)),
		appendPieces: (pieces) => calls.run("append", path, longPatience, () => file.appendPieces(pieces)),
		sync: () => calls.run("sync", path, longPatience, () => file.sync()),
		close: () => calls.run("close", path, longPatience, () => file.close()),
	});

	async function* readPieces(path: string): AsyncGenerator<Buffer> {
		const pieces = files.readPieces(path)[Symbol.asyncIterator]();
		try {
			while (true) {
				const next = await calls.run("read", path, readPatience, () => pieces.next());
				if (next.done === true) return;
				yield next.value;
			}
		} finally {
			// If a piece never arrives, closing never ends either.
			const closed = pieces.return?.().catch(() => undefined);
			if (!calls.isStuck(path)) await closed;
		}
	}

	return {
		admitting: (admit) => createBoundPort(files.admitting(admit), calls),
		read: (path, limit) => calls.run("read", path, longPatience, () => files.read(path, limit)),
		readRange: (path, offset, length) =>
			calls.run("read", path, readPatience, () => files.readRange(path, offset, length)),
		readPieces,
		status: (path) => calls.run("stat", path, readPatience, () => files.status(path)),
		list: (path) => calls.run("list", path, readPatience, () => files.list(path)),
		resolve: (path) => calls.run("resolve", path, readPatience, () => files.resolve(path)),
		makeDirectory: (path, mode) =>
			calls.run("make directory", path, longPatience, () => files.makeDirectory(path, mode)),
		replace: (path, content, options) =>
			calls.run("replace", path, longPatience, () => files.replace(path, content, options)),
		replaceByPieces: (path, pieces, options) =>
			calls.run("replace", path, longPatience, () => files.replaceByPieces(path, pieces, options)),
		create: (path, content) => calls.run("create", path, longPatience, () => files.create(path, content)),
		rename: (from, to) => calls.run("rename", from, longPatience, () => files.rename(from, to)),
		truncate: (path, length) => calls.run("truncate", path, longPatience, () => files.truncate(path, length)),
		openAppend: async (path) => {
			const abandon = (file: AppendFile) => void file.close().catch(() => undefined);
			const open = () => files.openAppend(path);
			return toBounded(await calls.run("open", path, longPatience, open, abandon), path);
		},
		syncDirectory: (path) => calls.run("sync", path, longPatience, () => files.syncDirectory(path)),
		remove: (path) => calls.run("remove", path, longPatience, () => files.remove(path)),
	};
}
