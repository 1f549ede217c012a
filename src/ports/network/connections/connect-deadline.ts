import type { Socket } from "node:net";
import { orAbort } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import { connectTimeout } from "../network-error.ts";

export interface ConnectDeadline {
	within<T>(work: Promise<T>): Promise<T>;
	on<T>(socket: Socket, step: () => Promise<T>): Promise<T>;
	withdraw(): void;
}

/** `host` is for the error. An abort ends the wait at once, with the signal's reason. */
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
