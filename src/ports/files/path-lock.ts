// Serializes read-modify-replace cycles by exclusive creation of `<path>.lock`. Never refuses.
import { randomBytes } from "node:crypto";
import * as v from "valibot";
import { never } from "../../base/abort.ts";
import { type Clock, sleep } from "../../base/clock.ts";
import { livenessOf, ownProcess, processIdSchema, storedOriginSchema } from "./living-process.ts";
import type { Files } from "./port.ts";

export interface LockTimes {
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

/** Whether the lock's owner is dead. Locks from other machines are waited for, because clocks differ. */
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

/** Takes over locks of dead processes at once, others after 3 s. Without a lock file the work runs anyway. */
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
