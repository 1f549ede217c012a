// Watches the lease of a session while it is held, so that the session learns at once that another process has taken it
// over, and not at its next write.
import type { Clock } from "../../base/clock.ts";
import { createDeferred } from "../../base/deferred.ts";
import type { KernelError } from "../../base/errors.ts";
import type { Lease } from "./lease.ts";

/** Milliseconds between two looks at the lease; each is one status of a file. */
const watchInterval = 1000;

export interface LeaseWatch {
	/** Resolves with the reason when the lease is lost. */
	readonly lost: Promise<KernelError>;
	/** Begins to watch this lease. */
	start(lease: Lease): void;
	stop(): void;
}

export function createLeaseWatch(clock: Clock): LeaseWatch {
	const lost = createDeferred<KernelError>();
	let withdraw: (() => void) | null = null;
	let isStopped = false;

	const look = (lease: Lease): void => {
		if (isStopped) return;
		withdraw = clock.after(watchInterval, () => void check(lease), true);
	};
	const check = async (lease: Lease): Promise<void> => {
		// A check that fails for another reason, such as a directory that was moved away, is repeated.
		await lease.check().catch(() => undefined);
		if (lease.loss === null) look(lease);
	};

	return {
		lost: lost.promise,
		start(lease) {
			void lease.whenLost.then(lost.resolve);
			if (lease.isWatchable) look(lease);
		},
		stop() {
			isStopped = true;
			withdraw?.();
		},
	};
}
