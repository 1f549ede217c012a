// A file port whose calls wait neither for ever nor in any number. A drive that does not answer holds a thread of Node's
// pool with every call, and with all of them every file of the process; here it gets a few and no more.
import { dirname } from "node:path";
import type { Clock } from "../base/clock.ts";
import type { AppendFile, Files } from "./port.ts";

export interface FileBounds {
	/** Calls that are carried out at the same time; each takes one thread. Others wait. */
	readonly places: number;
	readonly clock: Clock;
}

/** Milliseconds after which a call counts as unanswered. Its place stays taken until it is. */
const readPatience = 30_000;
/** The same for what moves much: a whole file, or a change. */
const longPatience = 120_000;

interface Call {
	readonly path: string;
	isUnanswered: boolean;
}

interface Waiter {
	readonly path: string;
	start(): void;
	refuse(): void;
}

function timedOut(text: string, name: string, path: string): Error {
	return Object.assign(new Error(`ETIMEDOUT: the file system has not answered for ${text}, ${name} '${path}'`), {
		code: "ETIMEDOUT",
		path,
	});
}

/** Carries out a call within the bounds. `late` gets the value of a call that was given up. */
interface BoundCalls {
	run<T>(name: string, path: string, patience: number, work: () => Promise<T>, late?: (value: T) => void): Promise<T>;
	/** Whether a call for this path is unanswered. */
	isStuck(path: string): boolean;
}

/** The same port. What is refused or given up rejects with a system error; a change given up may still take place. */
export function boundFiles(files: Files, bounds: FileBounds): Files {
	return createBoundPort(files, createBoundCalls(bounds));
}

function createBoundCalls({ places, clock }: FileBounds): BoundCalls {
	const calls = new Set<Call>();
	let waiters: Waiter[] = [];
	/** What lies in one directory mostly hangs together: some places are left for others. */
	const placesOfDirectory = Math.max(1, Math.ceil(places / 2));

	const stuckPaths = () => [...calls].flatMap(({ path, isUnanswered }) => (isUnanswered ? [path] : []));
	const blocked = (name: string, path: string): Error => {
		const others = [...new Set(stuckPaths())].map((stuck) => `'${stuck}'`).join(", ");
		return timedOut(`${others} yet`, name, path);
	};
	const callsInDirectoryOf = (path: string) => [...calls].filter((call) => dirname(call.path) === dirname(path));
	/** Whether everything that a call would have to wait for is stuck itself. */
	const isHopeless = (path: string): boolean => {
		const isStuck = ({ isUnanswered }: Call) => isUnanswered;
		const beside = callsInDirectoryOf(path);
		if (calls.size >= places && [...calls].every(isStuck)) return true;
		return beside.length >= placesOfDirectory && beside.every(isStuck);
	};
	const hasPlace = (path: string) => calls.size < places && callsInDirectoryOf(path).length < placesOfDirectory;
	const admit = () => {
		for (const waiter of waiters) {
			const isReady = hasPlace(waiter.path);
			if (!isReady && !isHopeless(waiter.path)) continue;
			waiters = waiters.filter((other) => other !== waiter);
			if (isReady) waiter.start();
			else waiter.refuse();
		}
	};

	const run = <T>(
		name: string,
		path: string,
		patience: number,
		work: () => Promise<T>,
		late: (value: T) => void = () => {},
	): Promise<T> =>
		new Promise((resolve, reject) => {
			const start = (): void => {
				const call: Call = { path, isUnanswered: false };
				calls.add(call);
				const withdraw = clock.after(
					patience,
					() => {
						call.isUnanswered = true;
						reject(timedOut(`${patience / 1000} s`, name, path));
						admit();
					},
					true,
				);
				const leave = () => {
					withdraw();
					calls.delete(call);
					admit();
				};
				work().then(
					(value) => {
						leave();
						if (call.isUnanswered) late(value);
						else resolve(value);
					},
					(thrown: unknown) => {
						leave();
						reject(thrown);
					},
				);
			};
			// What is stuck once is not worth another place.
			if (stuckPaths().includes(path) || isHopeless(path)) reject(blocked(name, path));
			else if (hasPlace(path)) start();
			else waiters.push({ path, start, refuse: () => reject(blocked(name, path)) });
		});

	return { run, isStuck: (path) => stuckPaths().includes(path) };
}

/** Ports of the same calls share their places. */
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
			// Behind a piece that never comes neither does this.
			const closed = pieces.return?.().catch(() => undefined);
			if (!isStuck(path)) await closed;
		}
	}

	return {
		admitting: (admit) => createBoundPort(files.admitting(admit), bound),
		read: (path) => run("read", path, longPatience, () => files.read(path)),
		readRange: (path, offset, length) => run("read", path, readPatience, () => files.readRange(path, offset, length)),
		readPieces,
		status: (path) => run("stat", path, readPatience, () => files.status(path)),
		list: (path) => run("list", path, readPatience, () => files.list(path)),
		resolve: (path) => run("resolve", path, readPatience, () => files.resolve(path)),
		makeDirectory: (path, mode) => run("make directory", path, longPatience, () => files.makeDirectory(path, mode)),
		replace: (path, content, options) =>
			run("replace", path, longPatience, () => files.replace(path, content, options)),
		// Its pieces may come from wherever they like, and take their time.
		replaceByPieces: (path, pieces, options) => files.replaceByPieces(path, pieces, options),
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
