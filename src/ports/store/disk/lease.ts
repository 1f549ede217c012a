// Which process may write a session: the one in its lease, a small file outside the session directory. A newcomer waits
// a while and then takes over; the previous holder notices before its next write. Nobody is ever refused.
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

/** Milliseconds after which a newcomer has the session, whatever the holder does. */
const leasePatience = 3_000;
const pollInterval = 20;
/** The last of them, for what the holder is just writing when the lease is taken over: before anything further it looks at that. */
const lastWriteTime = 250;
/** Milliseconds within which what is written is written before a newcomer reads it, with time left for the write. */
const lateWriteTime = 100;

export interface Lease {
	/**
	 * Fails `storage-failed` once another process has taken over the session, permanently; and while the session's
	 * directory is missing.
	 */
	check(): Promise<void>;
	/**
	 * The same for what is written late, after a check for what it follows from. Looks only where that was so long ago that a
	 * newcomer may have read the files by now: this process may have been stopped meanwhile.
	 */
	checkLate(): Promise<void>;
	/** Why it is lost; null while it is held. */
	readonly loss: KernelError | null;
	/** Resolves with that reason. */
	readonly whenLost: Promise<KernelError>;
	/** Whether there is a file that another process can take over. */
	readonly isWatchable: boolean;
	/** Answers whoever asks whether this process lives; `names` are those in the directory of the leases. */
	answer(names: ReadonlySet<string>): Promise<void>;
	/** Releases the lease if it is still this one. */
	release(): Promise<void>;
}

export interface LeaseOptions {
	readonly files: Files;
	readonly clock: Clock;
	readonly log: Log;
	/** The file of the lease. */
	readonly path: string;
	/** The session's directory, for people. */
	readonly directory: string;
}

/** Where no lease can be stored, no other writer can be detected either. */
const noLease: Lease = {
	check: async () => {},
	checkLate: async () => {},
	loss: null,
	whenLost: new Promise(() => {}),
	isWatchable: false,
	answer: async () => {},
	release: async () => {},
};

/** It becomes the name of a file: one with path syntax would lead out of the directory of the leases. */
const tokenPattern = /^[^/\\\0]{1,64}$/;

/** Leases of versions that knew no origin lack it. */
const holderSchema = v.object({
	pid: processIdSchema,
	origin: storedOriginSchema,
	token: v.pipe(v.string(), v.regex(tokenPattern)),
});
type Holder = v.InferOutput<typeof holderSchema>;

/** Null for a lease without a holder, such as one that is just being written. */
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

/** The topmost missing directory on the path, itself included; null when all exist. */
async function findRemoved(files: Files, directory: string): Promise<string | null> {
	let removed: string | null = null;
	for (let current = directory; (await files.status(current)) === null; current = path.dirname(current)) {
		removed = current;
		if (current === path.dirname(current)) break;
	}
	return removed;
}

/** A living process that holds a lease, as far as that is known. */
export interface LeaseHolder {
	readonly pid: number;
	/** For people: its process id, and on which machine where that is another one. */
	readonly name: string;
	readonly isThisProcess: boolean;
}

function toLeaseHolder(holder: Holder): LeaseHolder {
	return { pid: holder.pid, name: describeProcess(holder), isThisProcess: isThisProcess(holder) };
}

/** What is done about a holder that has not ended for certain. May throw instead. */
type WhileHeld = (holder: Holder, liveness: Exclude<Liveness, "ended">) => Promise<"wait" | "take">;

/** When the file of the lease was written, or null where somebody may have replaced it since. */
async function acquire(options: LeaseOptions, token: string, whileHeld: WhileHeld): Promise<number | null> {
	const { files, clock, log, path: leasePath } = options;
	const started = clock.monotonic();
	const content = JSON.stringify({ ...ownProcess(), token, time: new Date(clock.now()).toISOString() });
	for (;;) {
		const created = await createWithParents(files, leasePath, content);
		// Whoever takes this process for an ended one, as an earlier version elsewhere may, replaces the file at once.
		if (created !== null) return hasWholeSeconds(created.modifiedAt) ? null : created.modifiedAt;
		// Null where it was released just now, and for a link that leads nowhere.
		const held = await readText(files, leasePath);
		const holder = toHolder(held ?? "");
		const liveness = holder === null ? null : livenessOf(holder);
		const isGone = liveness === "ended";
		const decision = holder === null || liveness === null || isGone ? "wait" : await whileHeld(holder, liveness);
		// Deciding may take as long as another one takes to have it.
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
 * Takes the lease. That of an ended process is taken over at once, any other after 3 s, also that of a process elsewhere,
 * which cannot be looked up. Where no lease can be written the session is used without one: rejects only with a `KernelError`
 * that `whileHeld` throws, which is called as long as it is waited for.
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

/** Takes the lease at once, also from a living process. */
export async function takeLeaseAtOnce(options: LeaseOptions): Promise<Lease> {
	const token = newToken();
	try {
		return createLease(options, token, await acquire(options, token, async () => "take"));
	} catch (thrown) {
		options.log.warn("the session is held without a lease", { path: options.path, cause: errorText(thrown) });
		return noLease;
	}
}

/** The process that holds the lease, unless it is known to have ended; null when there is none. */
export async function findHolder(files: Files, leasePath: string): Promise<LeaseHolder | null> {
	const holder = toHolder((await readText(files, leasePath).catch(() => null)) ?? "");
	return holder === null || livenessOf(holder) === "ended" ? null : toLeaseHolder(holder);
}

/**
 * What a process elsewhere counts as that holds the lease: with "asked" as living if it answers, for which it is given
 * as long as it would be waited for; with the others as living or as ended at once.
 */
type Elsewhere = "asked" | "living" | "ended";

/** Takes the lease unless a living process holds it: then fails with what `toError` makes of that process. */
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

/** `writtenAt` is when its file was written, if nobody can have replaced it before that was read. */
function createLease(
	{ files, clock, log, path: leasePath, directory }: LeaseOptions,
	token: string,
	writtenAt: number | null,
): Lease {
	const lost = createDeferred<KernelError>();
	/** When the file was last written, once that distinguishes this lease from any other: a status is cheaper than reading. */
	let knownTime = writtenAt;
	/** When the last look began that saw this lease. */
	let checkedAt = Number.NEGATIVE_INFINITY;
	const holder = async () => toHolder((await readText(files, leasePath)) ?? "");
	const failure = (reason: string) => new KernelError("storage-failed", `Cannot write ${directory}: ${reason}`);
	const toLoss = (found: Holder | null, isThere: boolean): string => {
		if (found !== null) return `another process (${describeProcess(found)}) has taken over the session.`;
		return isThere
			? "another process has taken over the session."
			: `its lease below ${path.dirname(leasePath)} was removed; another process may have written the session since.`;
	};
	// A property, and no getter of this object: one would take each lease a shape of its own in memory.
	const lease: { -readonly [Key in keyof Lease]: Lease[Key] } = {
		async check() {
			if (lease.loss !== null) throw lease.loss;
			const lookedAt = clock.monotonic();
			const now = clock.now();
			const status = await withStorageError(leasePath, () => files.status(leasePath));
			const isAsKnown = status !== null && status.modifiedAt === knownTime;
			const found = isAsKnown ? null : await withStorageError(leasePath, holder);
			if (isAsKnown || found?.token === token) {
				// Two processes that find the lease of an ended one both replace it, and maybe with the same time.
				if (!isAsKnown)
					knownTime = status !== null && showsLaterChanges(status.modifiedAt, now) ? status.modifiedAt : null;
				checkedAt = lookedAt;
				return;
			}
			const removed = await withStorageError(directory, () => findRemoved(files, directory));
			// It may come back, with the lease unchanged.
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
			// One that stays makes the next open of the session in this process or another wait for three seconds.
			await files.remove(leasePath).catch(async () => {
				if ((await holder())?.token === token) await files.remove(leasePath);
			});
		},
	};
	return lease;
}
