// A file port that limits concurrent calls and their duration. A drive that does not respond blocks a thread of Node's
// pool with every call, and with all of them every file access of the process; this port lets it block only a few.
import { dirname } from "node:path";
import type { Clock } from "../../base/clock.ts";
import type { AppendFile, Files } from "./port.ts";

export interface FileBounds {
	/** Calls that may run concurrently; each takes one thread. Others wait. */
	readonly places: number;
	readonly clock: Clock;
}

/** Milliseconds after which a call counts as unanswered. It occupies its place until it is answered. */
const readPatience = 30_000;
/** The same for long calls: reading a whole file, or a change. */
const longPatience = 120_000;

interface Call {
	readonly path: string;
	isUnanswered: boolean;
}

interface Waiter {
	start(): void;
	refuse(): void;
}

/** The calls for files of one directory: how many run, and how many of these are unanswered. */
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

/** Runs a call within the limits. `late` gets the value of a call that timed out. */
interface BoundCalls {
	run<T>(name: string, path: string, patience: number, work: () => Promise<T>, late?: (value: T) => void): Promise<T>;
	/** Whether a call for this path is unanswered. */
	isStuck(path: string): boolean;
}

/**
 * The same port with limits. Refused calls and timeouts reject with a system error; a change that timed out may still
 * happen.
 */
export function boundFiles(files: Files, bounds: FileBounds): Files {
	return createBoundPort(files, createBoundCalls(bounds));
}

function createBoundCalls({ places, clock }: FileBounds): BoundCalls {
	const calls = new Set<Call>();
	let unanswered = 0;
	const directories = new Map<string, DirectoryCalls>();
	/** Those that wait, by directory: each has its turn, so that thousands of waiters cost no more each than a few. */
	const waiting = new Map<string, Waiter[]>();
	/** Files in one directory are mostly on one drive: some places are reserved for other directories. */
	const placesOfDirectory = Math.max(1, Math.ceil(places / 2));

	const stuckPaths = () =>
		unanswered === 0 ? [] : [...calls].filter((call) => call.isUnanswered).map(({ path }) => path);
	const blocked = (name: string, path: string): Error => {
		const others = [...new Set(stuckPaths())].map((stuck) => `'${stuck}'`).join(", ");
		return timedOut(`${others} yet`, name, path);
	};
	const isDirectoryFull = (directory: string) => (directories.get(directory)?.running ?? 0) >= placesOfDirectory;
	/** Whether every call that one for this directory would have to wait for is stuck. */
	const isHopeless = (directory: string): boolean => {
		if (unanswered === 0) return false;
		if (calls.size >= places && unanswered === calls.size) return true;
		const own = directories.get(directory);
		return own !== undefined && isDirectoryFull(directory) && own.unanswered === own.running;
	};
	const hasPlace = (directory: string) => calls.size < places && !isDirectoryFull(directory);
	const admit = () => {
		if (unanswered > 0) {
			for (const [directory, waiters] of [...waiting]) {
				if (!isHopeless(directory)) continue;
				waiting.delete(directory);
				for (const { refuse } of waiters) refuse();
			}
		}
		while (calls.size < places) {
			// Only few directories can be full at once, so that this looks at few.
			const found = findFirst(waiting, ([directory]) => !isDirectoryFull(directory));
			if (found === undefined) return;
			const [directory, waiters] = found;
			const next = waiters.shift();
			waiting.delete(directory);
			if (waiters.length > 0) waiting.set(directory, waiters);
			next?.start();
		}
	};
	const enter = (call: Call, directory: string): DirectoryCalls => {
		const own = directories.get(directory) ?? { running: 0, unanswered: 0 };
		directories.set(directory, own);
		own.running += 1;
		calls.add(call);
		return own;
	};
	const leave = (call: Call, directory: string, own: DirectoryCalls): void => {
		calls.delete(call);
		own.running -= 1;
		if (call.isUnanswered) {
			own.unanswered -= 1;
			unanswered -= 1;
		}
		if (own.running === 0) directories.delete(directory);
		admit();
	};

	const run = <T>(
		name: string,
		path: string,
		patience: number,
		work: () => Promise<T>,
		late: (value: T) => void = () => {},
	): Promise<T> =>
		new Promise((resolve, reject) => {
			const directory = dirname(path);
			const start = (): void => {
				const call: Call = { path, isUnanswered: false };
				const own = enter(call, directory);
				const withdraw = clock.after(
					patience,
					() => {
						call.isUnanswered = true;
						own.unanswered += 1;
						unanswered += 1;
						reject(timedOut(`${patience / 1000} s`, name, path));
						admit();
					},
					true,
				);
				const end = () => {
					withdraw();
					leave(call, directory, own);
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
			// A path that is stuck already gets no second place.
			if (stuckPaths().includes(path) || isHopeless(directory)) reject(blocked(name, path));
			else if (hasPlace(directory)) start();
			else {
				const waiters = waiting.get(directory) ?? [];
				waiters.push({ start, refuse: () => reject(blocked(name, path)) });
				waiting.set(directory, waiters);
			}
		});

	return { run, isStuck: (path) => stuckPaths().includes(path) };
}

function findFirst<T>(values: Iterable<T>, fits: (value: T) => boolean): T | undefined {
	for (const value of values) if (fits(value)) return value;
	return undefined;
}

/** Ports with the same calls share their places. */
function createBoundPort(files: Files, bound: BoundCalls): Files {
	const { run, isStuck } = bound;

	const toBounded = (file: AppendFile, path: string): AppendFile => ({
		append: (text) => run("append", path, longPatience, () => file.append(text)),
		appendPieces: (pieces) => run("append", path, longPatience, () => file.appendPieces(pieces)),
		sync: () => run("sync", path, longPatience, () => file.sync()),
		close: () => run("close", path, longPatience, () => file.close()),
	});

	async function* readPieces(path: string): AsyncGenerator<Buffer> {
		const pieces = files.readPieces(path)[Symbol.asyncIterator]();
		try {
			while (true) {
				const next = await run("read", path, readPatience, () => pieces.next());
				if (next.done === true) return;
				yield next.value;
			}
		} finally {
			// After a piece that never comes, closing never ends either.
			const closed = pieces.return?.().catch(() => undefined);
			if (!isStuck(path)) await closed;
		}
	}

	return {
		admitting: (admit) => createBoundPort(files.admitting(admit), bound),
		read: (path, limit) => run("read", path, longPatience, () => files.read(path, limit)),
		readRange: (path, offset, length) => run("read", path, readPatience, () => files.readRange(path, offset, length)),
		readPieces,
		status: (path) => run("stat", path, readPatience, () => files.status(path)),
		list: (path) => run("list", path, readPatience, () => files.list(path)),
		resolve: (path) => run("resolve", path, readPatience, () => files.resolve(path)),
		makeDirectory: (path, mode) => run("make directory", path, longPatience, () => files.makeDirectory(path, mode)),
		replace: (path, content, options) =>
			run("replace", path, longPatience, () => files.replace(path, content, options)),
		replaceByPieces: (path, pieces, options) =>
			run("replace", path, longPatience, () => files.replaceByPieces(path, pieces, options)),
		create: (path, content) => run("create", path, longPatience, () => files.create(path, content)),
		rename: (from, to) => run("rename", from, longPatience, () => files.rename(from, to)),
		truncate: (path, length) => run("truncate", path, longPatience, () => files.truncate(path, length)),
		openAppend: async (path) => {
			const abandon = (file: AppendFile) => void file.close().catch(() => undefined);
			const open = () => files.openAppend(path);
			return toBounded(await run("open", path, longPatience, open, abandon), path);
		},
		syncDirectory: (path) => run("sync", path, longPatience, () => files.syncDirectory(path)),
		remove: (path) => run("remove", path, longPatience, () => files.remove(path)),
	};
}
