// Watches the leases of sessions while they are held, so that a session learns at once that another process has taken it
// over, and not at its next write.
import type { Clock } from "../../base/clock.ts";
import { createDeferred } from "../../base/deferred.ts";
import type { KernelError } from "../../base/errors.ts";
import type { Lease } from "./lease.ts";

/** Milliseconds between two looks at a lease; each is one status of a file. */
const watchInterval = 1000;
/**
 * Moments of each interval at which leases are looked at. A lease stays with its moment: else those whose looks were late
 * together would be looked at together from then on, and a thousand sessions would delay everything else once a second.
 */
const momentCount = 50;
/** From one moment to the next that is filled: far from those before it, and once to each before it returns. */
const stride = 31;

export interface LeaseWatch {
	/** Resolves with the reason when the lease is lost. */
	readonly lost: Promise<KernelError>;
	/** Begins to watch this lease. */
	start(lease: Lease): void;
	stop(): void;
}

/** Makes the watches of a store, whose looks are spread over the interval. */
export function createLeaseWatches(clock: Clock): () => LeaseWatch {
	/** How many leases are looked at in each moment. */
	const moments = Array.from({ length: momentCount }, () => 0);
	const enter = (): number => {
		const least = Math.min(...moments);
		let moment = 0;
		while (moments[moment] !== least) moment = (moment + stride) % momentCount;
		moments[moment] = least + 1;
		return moment;
	};
	const leave = (moment: number): void => {
		moments[moment] = (moments[moment] ?? 0) - 1;
	};
	return () => createLeaseWatch(clock, enter, leave);
}

function createLeaseWatch(clock: Clock, enter: () => number, leave: (moment: number) => void): LeaseWatch {
	const lost = createDeferred<KernelError>();
	let moment: number | null = null;
	/** When it was, or is to be, looked at. */
	let due = 0;
	let withdraw: (() => void) | null = null;

	const look = (lease: Lease): void => {
		if (moment === null) return;
		const now = clock.monotonic();
		// At least one further: a timer may be a little early.
		due += watchInterval * Math.max(1, Math.floor((now - due) / watchInterval) + 1);
		withdraw = clock.after(due - now, () => void check(lease), true);
	};
	const check = async (lease: Lease): Promise<void> => {
		// A check that fails for another reason, such as a directory that was moved away, is repeated.
		await lease.check().catch(() => undefined);
		if (lease.loss === null) look(lease);
		else stop();
	};
	const stop = (): void => {
		withdraw?.();
		if (moment !== null) leave(moment);
		moment = null;
	};

	return {
		lost: lost.promise,
		start(lease) {
			void lease.whenLost.then(lost.resolve);
			if (!lease.isWatchable) return;
			moment = enter();
			due = (moment * watchInterval) / momentCount - watchInterval;
			look(lease);
		},
		stop,
	};
}
