// The time within which a connection must be there, over all the steps that it takes.

import type { Socket } from "node:net";
import { orAbort } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import { connectTimeout } from "./network-error.ts";

export interface ConnectDeadline {
	/** Gives what the work gives, unless the time is up before. */
	within<T>(work: Promise<T>): Promise<T>;
	/** Runs a step on a socket, which is destroyed when the step fails or the time is up before it is done. */
	on<T>(socket: Socket, step: () => Promise<T>): Promise<T>;
	/** The connection is there, or given up. */
	withdraw(): void;
}

/** `host` is for the error. An abort ends the time at once, with the reason of its signal. */
export function startConnectDeadline(
	clock: Clock,
	milliseconds: number,
	host: string,
	abort: AbortSignal | null,
): ConnectDeadline {
	const deadline = new AbortController();
	const { signal } = deadline;
	const withdrawTimer = clock.after(milliseconds, () => deadline.abort(connectTimeout(host, milliseconds)));
	const giveUp = () => deadline.abort(abort?.reason);
	abort?.addEventListener("abort", giveUp, { once: true });
	if (abort?.aborted === true) giveUp();

	return {
		within: (work) => orAbort(work, signal),
		withdraw() {
			withdrawTimer();
			abort?.removeEventListener("abort", giveUp);
		},
		async on(socket, step) {
			try {
				return await orAbort(step(), signal);
			} catch (thrown) {
				socket.destroy();
				throw thrown;
			}
		},
	};
}
