// The time within which a connection must be there, over all the steps that it takes.
import type { Socket } from "node:net";
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

/** `host` is for the error. */
export function startConnectDeadline(clock: Clock, milliseconds: number, host: string): ConnectDeadline {
	const deadline = new AbortController();
	const { signal } = deadline;
	const withdraw = clock.after(milliseconds, () => deadline.abort(connectTimeout(host, milliseconds)));

	const within = <T>(work: Promise<T>): Promise<T> =>
		new Promise((resolve, reject) => {
			const expire = () => reject(signal.reason);
			signal.addEventListener("abort", expire, { once: true });
			if (signal.aborted) expire();
			work.then(resolve, reject).finally(() => signal.removeEventListener("abort", expire));
		});

	return {
		within,
		withdraw,
		async on(socket, step) {
			try {
				return await within(step());
			} catch (thrown) {
				socket.destroy();
				throw thrown;
			}
		},
	};
}
