// The holder of a session's lease file may write it. Newcomers wait and take over; the old holder notices before its next write.
import { randomBytes } from "node:crypto";
import path from "node:path";
import * as v from "valibot";
import { never } from "../../../base/abort.ts";
import { type Clock, sleep } from "../../../base/clock.ts";
import { createDeferred } from "../../../base/deferred.ts";
import { errorText, KernelError, systemErrorCode } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import {
	describeProcess,
	isThisProcess,
	type Liveness,
	livenessOf,
	ownProcess,
	processIdSchema,
	storedOriginSchema,
} from "../../files/living-process.ts";
import type { FileStatus, Files } from "../../files/port.ts";
import { hasWholeSeconds, showsLaterChanges } from "./file-times.ts";
import { answer, isAnswered } from "./lease-question.ts";
import { withStorageError } from "./logs/storage-error.ts";

/** Milliseconds after which a newcomer gets the session in any case. */
const leasePatience = 3_000;
const pollInterval = 20;
/** The end of that time, for writes during the takeover: the holder checks the lease before any further write. */
const lastWriteTime = 250;
/** Milliseconds within which late writes finish before a newcomer reads them, with time left for the write. */
const lateWriteTime = 100;

export interface Lease {
	/** Fails `storage-failed`: permanently after a takeover, and while the session directory is missing. */
	check(): Promise<void>;
	/** Like `check`, after an earlier check: repeats it only if a newcomer may have read the files since. */
	checkLate(): Promise<void>;
	/** Why the lease is lost; null while it is held. */
	readonly loss: KernelError | null;
	readonly whenLost: Promise<KernelError>;
	/** Whether a lease file exists that another process can take over. */
	readonly isWatchable: boolean;
	/** Answers liveness questions; `names` lists the lease directory. */
	answer(names: ReadonlySet<string>): Promise<void>;
	release(): Promise<void>;
}

export interface LeaseOptions {
	readonly files: Files;
	readonly clock: Clock;
	readonly log: Log;
	readonly path: string;
	readonly directory: string;
}

/** Without a lease file, other writers cannot be detected either. */
const noLease: Lease = {
	check: async () => {},
	checkLate: async () => {},
	loss: null,
	whenLost: new Promise(() => {}),
	isWatchable: false,
	answer: async () => {},
	release: async () => {},
};

/** The token becomes part of a file name: path syntax could escape the lease directory. */
const tokenPattern = /^[^/\\\0]{1,64}$/;

/** Leases of older versions have no origin. */
const holderSchema = v.object({
	pid: processIdSchema,
	origin: storedOriginSchema,
	token: v.pipe(v.string(), v.regex(tokenPattern)),
});
type Holder = v.InferOutput<typeof holderSchema>;

/** Null for a lease without a holder, such as one being written. */
function toHolder(content: string): Holder | null {
	try {
		const parsed = v.safeParse(holderSchema, JSON.parse(content));
		return parsed.success ? parsed.output : null;
	} catch {
		return null;
	}
}

async function readText(files: Files, file: string): Promise<string | null> {
	return (await files.read(file))?.toString("utf8") ?? null;
}

async function createWithParents(files: Files, file: string, content: string): Promise<FileStatus | null> {
	try {
		return await files.create(file, content);
	} catch (thrown) {
		if (systemErrorCode(thrown) !== "ENOENT") throw thrown;
		await files.makeDirectory(path.dirname(file));
		return await files.create(file, content);
	}
}

/** The topmost missing directory on the path, including the path itself; null if all exist. */
async function findRemoved(files: Files, directory: string): Promise<string | null> {
	let removed: string | null = null;
	for (let current = directory; (await files.status(current)) === null; current = path.dirname(current)) {
		removed = current;
		if (current === path.dirname(current)) break;
	}
	return removed;
}

export interface LeaseHolder {
	readonly pid: number;
	/** For people: its process id, and its machine if different. */
	readonly name: string;
	readonly isThisProcess: boolean;
	readonly isReachable: boolean;
}

function toLeaseHolder(holder: Holder): LeaseHolder {
	const own = isThisProcess(holder);
	const isReachable = !own && livenessOf(holder) === "alive";
	return { pid: holder.pid, name: describeProcess(holder), isThisProcess: own, isReachable };
}

type WhileHeld = (holder: Holder, liveness: Exclude<Liveness, "ended">) => Promise<"wait" | "take">;

/** Returns the lease file's write time, or null if another process may have replaced it since. */
async function acquire(options: LeaseOptions, token: string, whileHeld: WhileHeld): Promise<number | null> {
	const { files, clock, log, path: leasePath } = options;
	const started = clock.monotonic();
	const content = JSON.stringify({ ...ownProcess(), token, time: new Date(clock.now()).toISOString() });
	for (;;) {
		const created = await createWithParents(files, leasePath, content);
		// A process that considers this one dead, such as an earlier version on another machine, may replace the file at once.
		if (created !== null) return hasWholeSeconds(created.modifiedAt) ? null : created.modifiedAt;
		const held = await readText(files, leasePath);
		const holder = toHolder(held ?? "");
		const liveness = holder === null ? null : livenessOf(holder);
		const isGone = liveness === "ended";
		const decision = holder === null || liveness === null || isGone ? "wait" : await whileHeld(holder, liveness);
		// Another process may take the lease during this decision.
		if (decision === "take" && (await readText(files, leasePath)) !== held) continue;
		if (isGone || decision === "take" || clock.monotonic() - started >= leasePatience - lastWriteTime) {
			log.info("the lease of a session is taken over", { path: leasePath, pid: holder?.pid ?? null, liveness });
			await files.replace(leasePath, content);
			if (!isGone) await sleep(clock, lastWriteTime, never);
			return null;
		}
		await sleep(clock, pollInterval, never);
	}
}

/**
 * Takes the lease: a dead process's at once, any other after 3 s, including one on another machine, which cannot be looked up.
 * If none can be written, the session goes without: rejects only with a `KernelError` from `whileHeld`, called while waiting.
 */
export async function takeLease(
	options: LeaseOptions,
	whileHeld: () => Promise<void> = async () => {},
): Promise<Lease> {
	const token = newToken();
	const wait = async () => {
		await whileHeld();
		return "wait" as const;
	};
	try {
		return createLease(options, token, await acquire(options, token, wait));
	} catch (thrown) {
		if (thrown instanceof KernelError) throw thrown;
		options.log.warn("the session is held without a lease", { path: options.path, cause: errorText(thrown) });
		return noLease;
	}
}

/** Takes the lease at once, even from a living process. */
export async function takeLeaseAtOnce(options: LeaseOptions): Promise<Lease> {
	const token = newToken();
	try {
		return createLease(options, token, await acquire(options, token, async () => "take"));
	} catch (thrown) {
		options.log.warn("the session is held without a lease", { path: options.path, cause: errorText(thrown) });
		return noLease;
	}
}

export async function findHolder(files: Files, leasePath: string): Promise<LeaseHolder | null> {
	const holder = toHolder((await readText(files, leasePath).catch(() => null)) ?? "");
	return holder === null || livenessOf(holder) === "ended" ? null : toLeaseHolder(holder);
}

/** How to treat a holder on another machine: ask it during the waiting time, or assume that it is living or ended. */
type Elsewhere = "asked" | "living" | "ended";

/** Takes the lease unless a living process holds it; then fails with the result of `toError`. */
export async function takeFreeLease(
	options: LeaseOptions,
	toError: (holder: LeaseHolder) => KernelError,
	elsewhere: Elsewhere = "asked",
): Promise<Lease> {
	const token = newToken();
	const isLiving = async (holder: Holder): Promise<boolean> =>
		elsewhere === "asked" ? isAnswered(options, holder.token, leasePatience - lastWriteTime) : elsewhere === "living";
	const writtenAt = await acquire(options, token, async (holder, liveness) => {
		if (liveness === "alive" || (await isLiving(holder))) throw toError(toLeaseHolder(holder));
		return "take";
	});
	return createLease(options, token, writtenAt);
}

function newToken(): string {
	return randomBytes(9).toString("hex");
}

function createLease(
	{ files, clock, log, path: leasePath, directory }: LeaseOptions,
	token: string,
	writtenAt: number | null,
): Lease {
	const lost = createDeferred<KernelError>();
	/** The file's last write time, once it identifies this lease uniquely: a status call is cheaper than reading. */
	let knownTime = writtenAt;
	/** Start of the last check that confirmed this lease. */
	let checkedAt = Number.NEGATIVE_INFINITY;
	const holder = async () => toHolder((await readText(files, leasePath)) ?? "");
	const failure = (reason: string) => new KernelError("storage-failed", `Cannot write ${directory}: ${reason}`);
	const toLoss = (found: Holder | null, isThere: boolean): string => {
		if (found !== null) return `another process (${describeProcess(found)}) has taken over the session.`;
		return isThere
			? "another process has taken over the session."
			: `its lease below ${path.dirname(leasePath)} was removed; another process may have written the session since.`;
	};
	// A property instead of a getter: getters would give each lease its own hidden class.
	const lease: { -readonly [Key in keyof Lease]: Lease[Key] } = {
		async check() {
			if (lease.loss !== null) throw lease.loss;
			const lookedAt = clock.monotonic();
			const now = clock.now();
			const status = await withStorageError(leasePath, () => files.status(leasePath));
			const isAsKnown = status !== null && status.modifiedAt === knownTime;
			const found = isAsKnown ? null : await withStorageError(leasePath, holder);
			if (isAsKnown || found?.token === token) {
				// Two processes that find a dead process's lease both replace it, possibly with the same time.
				if (!isAsKnown)
					knownTime = status !== null && showsLaterChanges(status.modifiedAt, now) ? status.modifiedAt : null;
				checkedAt = lookedAt;
				return;
			}
			const removed = await withStorageError(directory, () => findRemoved(files, directory));
			// The directory may come back with the lease unchanged.
			if (removed !== null) throw failure(`${removed} was removed while the session was open.`);
			const loss = failure(toLoss(found, status !== null));
			lease.loss = loss;
			log.error("the lease of the session is lost", { directory, pid: found?.pid ?? null });
			lost.resolve(loss);
			throw loss;
		},
		async checkLate() {
			if (lease.loss !== null) throw lease.loss;
			if (clock.monotonic() - checkedAt > lateWriteTime) await lease.check();
		},
		loss: null,
		whenLost: lost.promise,
		isWatchable: true,
		answer: (names) => answer(files, leasePath, token, names),
		async release() {
			const isKnown = knownTime !== null && (await files.status(leasePath))?.modifiedAt === knownTime;
			if (!isKnown && (await holder())?.token !== token) return;
			// A leftover lease would delay the session's next opening by three seconds.
			await files.remove(leasePath).catch(async () => {
				if ((await holder())?.token === token) await files.remove(leasePath);
			});
		},
	};
	return lease;
}
