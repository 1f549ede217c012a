// Watches held leases, so that a session learns of a takeover before its next write, and answers liveness questions. All leases are
// in one directory, and a takeover replaces a file: while the directory is unchanged, one status call suffices for any number.
import { never } from "../../../base/abort.ts";
import { type Clock, sleep } from "../../../base/clock.ts";
import { createDeferred } from "../../../base/deferred.ts";
import type { KernelError } from "../../../base/errors.ts";
import type { Files } from "../../files/port.ts";
import { showsLaterChanges } from "./file-times.ts";
import type { Lease } from "./lease.ts";

/** Directory polling interval in milliseconds. */
const watchInterval = 1000;
/** Every this many polls each lease is checked anyway: some file systems keep no directory modification time. */
const fullLookEvery = 60;
/** Leases checked together: a thousand at once would delay everything else. */
const leasesAtOnce = 20;
/** Milliseconds between such groups. */
const pause = 20;

export interface LeaseWatch {
	readonly lost: Promise<KernelError>;
	/** Marks the session as lost for this reason, no matter who holds the lease; the watch ends. */
	lose(reason: KernelError): void;
	start(lease: Lease): void;
	stop(): void;
}

export interface LeaseWatchOptions {
	readonly files: Pick<Files, "status" | "list">;
	readonly clock: Clock;
	readonly directory: string;
}

export function createLeaseWatches(options: LeaseWatchOptions): () => LeaseWatch {
	const { clock } = options;
	const held = new Set<Lease>();
	const { look, distrust } = createLook(options, held);
	/** Ends the wait for the next poll; null while nothing is watched. */
	let ending: AbortController | null = null;
	const watch = async (end: AbortController): Promise<void> => {
		while (!end.signal.aborted) {
			await sleep(clock, watchInterval, end.signal, true);
			if (!end.signal.aborted) await look();
		}
	};
	const drop = (lease: Lease): void => {
		held.delete(lease);
		if (held.size > 0) return;
		ending?.abort();
		ending = null;
	};
	return () => {
		const lost = createDeferred<KernelError>();
		let own: Lease | null = null;
		let isStopped = false;
		const stop = (): void => {
			isStopped = true;
			if (own !== null) drop(own);
		};
		return {
			lost: lost.promise,
			lose(reason) {
				stop();
				lost.resolve(reason);
			},
			start(lease) {
				void lease.whenLost.then(lost.resolve);
				if (!lease.isWatchable) return;
				if (isStopped) return;
				own = lease;
				held.add(lease);
				// It may have been taken over earlier, in a directory change that was already seen.
				distrust();
				void lease.whenLost.then(() => drop(lease));
				if (ending !== null) return;
				ending = new AbortController();
				void watch(ending);
			},
			stop,
		};
	};
}

interface Look {
	look(): Promise<void>;
	/** Forces the next poll to check every lease. */
	distrust(): void;
}

function createLook({ files, clock, directory }: LeaseWatchOptions, held: Set<Lease>): Look {
	/** The directory's modification time, if every later change will show another time. */
	let unchangedSince: number | null = null;
	let skipped = 0;
	const distrust = (): void => {
		unchangedSince = null;
	};
	const check = async (lease: Lease, names: ReadonlySet<string>): Promise<void> => {
		try {
			await lease.check();
			await lease.answer(names);
		} catch {
			// For any other reason, such as a moved directory, the next poll checks the leases again.
			if (lease.loss === null) distrust();
		}
	};
	const look = async (): Promise<void> => {
		const now = clock.now();
		const modifiedAt = (await files.status(directory).catch(() => null))?.modifiedAt ?? null;
		if (modifiedAt !== null && modifiedAt === unchangedSince && skipped + 1 < fullLookEvery) {
			skipped += 1;
			return;
		}
		skipped = 0;
		unchangedSince = modifiedAt !== null && showsLaterChanges(modifiedAt, now) ? modifiedAt : null;
		const entries = await files.list(directory).catch(() => []);
		const names = new Set(entries.map(({ name }) => name));
		const leases = [...held];
		for (let start = 0; start < leases.length; start += leasesAtOnce) {
			if (start > 0) await sleep(clock, pause, never, true);
			await Promise.all(
				leases
					.slice(start, start + leasesAtOnce)
					.filter((lease) => held.has(lease))
					.map((lease) => check(lease, names)),
			);
		}
	};
	return { look, distrust };
}
