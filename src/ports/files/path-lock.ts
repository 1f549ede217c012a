// A short advisory lock on a path: exclusive creation of `<path>.lock`. It serializes read-modify-replace cycles of several
// processes; it never refuses, because a lost update is better than a program that does not start.
import { randomBytes } from "node:crypto";
import * as v from "valibot";
import { never } from "../../base/abort.ts";
import { type Clock, sleep } from "../../base/clock.ts";
import { livenessOf, ownProcess, processIdSchema, storedOriginSchema } from "./living-process.ts";
import type { Files } from "./port.ts";

/** Lock timing in milliseconds. */
export interface LockTimes {
	/** The age after which a lock counts as abandoned. */
	readonly staleAfter: number;
	/** How long a caller waits before it takes over the lock. */
	readonly patience: number;
}

/** For work of a few milliseconds. */
const shortWork: LockTimes = { staleAfter: 10_000, patience: 3_000 };
const pollInterval = 10;

interface LockPort {
	readonly files: Files;
	readonly clock: Clock;
}

const ownerSchema = v.object({ pid: processIdSchema, origin: storedOriginSchema, at: v.number() });

/**
 * Whether the lock's owner is dead. A lock without a readable owner is being written; a lock from another machine is waited for
 * regardless of its age, because clocks differ.
 */
function isStale(content: string, now: number, { staleAfter }: LockTimes): boolean {
	let value: unknown;
	try {
		value = JSON.parse(content);
	} catch {
		return false;
	}
	const owner = v.safeParse(ownerSchema, value);
	if (!owner.success) return false;
	const liveness = livenessOf(owner.output);
	return liveness === "ended" || (liveness === "alive" && now - owner.output.at > staleAfter);
}

async function readText(files: Files, path: string): Promise<string | null> {
	return (await files.read(path))?.toString("utf8") ?? null;
}

async function acquire({ files, clock }: LockPort, lockPath: string, token: string, times: LockTimes): Promise<void> {
	const started = clock.monotonic();
	while (true) {
		const content = JSON.stringify({ ...ownProcess(), at: clock.now(), token });
		if ((await files.create(lockPath, content)) !== null) return;
		// Null if it was just released, and for a dangling link.
		const held = await readText(files, lockPath);
		const isAbandoned = held !== null && isStale(held, clock.now(), times);
		if (isAbandoned || clock.monotonic() - started >= times.patience) {
			// Remove it only if it is still the same lock: another waiter may have taken it over.
			if ((await readText(files, lockPath)) === held) await files.remove(lockPath);
			continue;
		}
		await sleep(clock, pollInterval, never);
	}
}

async function release(files: Files, lockPath: string, token: string): Promise<void> {
	const held = await readText(files, lockPath);
	if (held?.includes(token) === true) await files.remove(lockPath);
}

/**
 * Runs `work` while holding the lock of `path`. Takes over a lock older than 10 s or of a dead process at once, and any other,
 * including one from another machine, after 3 s, unless `times` differs. If no lock can be created (read-only directory), the
 * work runs without one and fails on its own. Rejects only with the error of `work`.
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
		// A lock that cannot be removed becomes stale.
		if (held) await release(port.files, lockPath, token).catch(() => undefined);
	}
}
