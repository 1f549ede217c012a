// A short advisory lock on a path: exclusive creation of `<path>.lock`. It orders read-modify-replace cycles of
// several processes; it never refuses, because a lost update is a smaller evil than a program that does not start.
import { randomBytes } from "node:crypto";
import * as v from "valibot";
import { type Clock, sleep } from "../base/clock.ts";
import { isAlive } from "./living-process.ts";
import type { Files } from "./port.ts";

/** How long a lock is respected, in milliseconds. */
export interface LockTimes {
	/** After this time a lock counts as left behind. */
	readonly staleAfter: number;
	/** How long a caller waits before it takes the lock over. */
	readonly patience: number;
}

/** For work of a few milliseconds. */
const shortWork: LockTimes = { staleAfter: 10_000, patience: 3_000 };
const pollInterval = 10;

interface LockPort {
	readonly files: Files;
	readonly clock: Clock;
}

const ownerSchema = v.object({ pid: v.pipe(v.number(), v.integer(), v.minValue(1)), at: v.number() });

/** Whether the owner named in the lock is gone. A lock without a readable owner is one that is just being written. */
function isStale(content: string, now: number, { staleAfter }: LockTimes): boolean {
	let value: unknown;
	try {
		value = JSON.parse(content);
	} catch {
		return false;
	}
	const owner = v.safeParse(ownerSchema, value);
	return owner.success && (now - owner.output.at > staleAfter || !isAlive(owner.output.pid));
}

async function readText(files: Files, path: string): Promise<string | null> {
	return (await files.read(path))?.toString("utf8") ?? null;
}

async function acquire({ files, clock }: LockPort, lockPath: string, token: string, times: LockTimes): Promise<void> {
	const started = clock.now();
	while (true) {
		const content = JSON.stringify({ pid: process.pid, at: clock.now(), token });
		if (await files.create(lockPath, content)) return;
		const held = await readText(files, lockPath);
		if (held === null) continue;
		if (isStale(held, clock.now(), times) || clock.now() - started >= times.patience) {
			// Judged and removed only if it is still the same lock: another waiter may have been faster.
			if ((await readText(files, lockPath)) === held) await files.remove(lockPath);
			continue;
		}
		await sleep(clock, pollInterval, new AbortController().signal);
	}
}

async function release(files: Files, lockPath: string, token: string): Promise<void> {
	const held = await readText(files, lockPath);
	if (held?.includes(token) === true) await files.remove(lockPath);
}

/**
 * Runs `work` while holding the lock of `path`. A lock older than 10 s, or of a dead process, is taken over at once,
 * any other after 3 s, unless `times` says otherwise. Where no lock can be made at all (read-only directory) the work runs without one and meets
 * the same obstacle itself. Rejects only with what `work` rejects with.
 */
export async function withLock<T>(
	port: LockPort,
	path: string,
	work: () => Promise<T>,
	times: LockTimes = shortWork,
): Promise<T> {
	const lockPath = `${path}.lock`;
	const token = randomBytes(9).toString("hex");
	const held = await acquire(port, lockPath, token, times).then(
		() => true,
		() => false,
	);
	try {
		return await work();
	} finally {
		// What cannot be removed goes stale.
		if (held) await release(port.files, lockPath, token).catch(() => undefined);
	}
}
