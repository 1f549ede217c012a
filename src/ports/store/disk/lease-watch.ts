// Watches the leases of sessions while they are held, so that a session learns soon that another process has taken it
// over, and not at its next write, and answers whoever asks whether this process lives. All leases are files of one directory, and a lease is taken over by replacing its file:
// as long as no name in the directory has changed, one look at the directory is enough, however many sessions there are.
import { never } from "../../../base/abort.ts";
import { type Clock, sleep } from "../../../base/clock.ts";
import { createDeferred } from "../../../base/deferred.ts";
import type { KernelError } from "../../../base/errors.ts";
import type { Files } from "../../files/port.ts";
import { showsLaterChanges } from "./file-times.ts";
import type { Lease } from "./lease.ts";

/** Milliseconds between two looks at the directory. */
const watchInterval = 1000;
/** Looks of which one is at each lease anyway: some file systems keep no time of change for a directory. */
const fullLookEvery = 60;
/** Leases that are looked at together: a thousand at once would delay everything else. */
const leasesAtOnce = 20;
/** Milliseconds from those to the next ones. */
const pause = 20;

export interface LeaseWatch {
	/** Resolves with the reason when the lease is lost. */
	readonly lost: Promise<KernelError>;
	/** The session is lost for this reason, whoever has the lease; the watch ends. */
	lose(reason: KernelError): void;
	/** Begins to watch this lease. */
	start(lease: Lease): void;
	stop(): void;
}

export interface LeaseWatchOptions {
	readonly files: Pick<Files, "status" | "list">;
	readonly clock: Clock;
	/** The directory of the leases. */
	readonly directory: string;
}

/** Makes the watches of a store. */
export function createLeaseWatches(options: LeaseWatchOptions): () => LeaseWatch {
	const { clock } = options;
	const held = new Set<Lease>();
	const { look, distrust } = createLook(options, held);
	/** Ends the wait for the next look; null while nothing is watched. */
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
				// It may have been taken over before, by a change that was seen and had nothing to do with the others.
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
	/** Looks at the leases if one of them may have been taken over since the last time. */
	look(): Promise<void>;
	/** Has the next look be at each lease, whatever the directory shows. */
	distrust(): void;
}

function createLook({ files, clock, directory }: LeaseWatchOptions, held: Set<Lease>): Look {
	/** When a name in the directory was last changed, if every later change shows another time. */
	let unchangedSince: number | null = null;
	/** Looks at nothing but the directory since the last one at the leases. */
	let skipped = 0;
	const distrust = (): void => {
		unchangedSince = null;
	};
	const check = async (lease: Lease, names: ReadonlySet<string>): Promise<void> => {
		try {
			await lease.check();
			await lease.answer(names);
		} catch {
			// For any other reason, such as a directory that was moved away, the next look is at the leases again.
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
