import type { Clock } from "../../../base/clock.ts";
import type { BodySource } from "../../../ports/network/body-source.ts";
import { createSilenceWatch } from "../../../ports/network/exchanges/silence.ts";
import { type NetworkFailure, toNetworkFailure } from "../../../ports/network/network-error.ts";
import type { ModelFailure } from "../model.ts";
import { type RequestFailure, requestFailure } from "./request-failure.ts";

/** A request and its response with deadlines, aborted with the caller's signal. */
export interface Exchange {
	/** Runs one step with a deadline; fails with a RequestFailure. */
	within<T>(milliseconds: number, step: (abort: AbortSignal) => Promise<T>): Promise<T>;
	/** Sets a deadline for the next body data, in milliseconds from now. */
	await(milliseconds: number): void;
	/** The received body data; fails with a RequestFailure. */
	take(body: BodySource): ReturnType<BodySource["take"]>;
	/** Ends the exchange and its socket, unless the response was read completely. */
	close(): void;
}

export function createExchange(clock: Clock, signal: AbortSignal): Exchange {
	const controller = new AbortController();
	const abort = () => controller.abort();
	signal.addEventListener("abort", abort, { once: true });
	if (signal.aborted) abort();
	let expired: number | null = null;
	const expire = (milliseconds: number) => {
		expired = milliseconds;
		abort();
	};
	const toFailure = (thrown: unknown) =>
		expired === null
			? toConnectionFailure(thrown)
			: requestFailure("timeout", `The provider sent nothing for ${expired / 1000} s.`);
	const watch = createSilenceWatch(clock, expire);
	return {
		async within(milliseconds, step) {
			const withdraw = clock.after(milliseconds, () => expire(milliseconds));
			try {
				return await step(controller.signal);
			} catch (thrown) {
				throw toFailure(thrown);
			} finally {
				withdraw();
			}
		},
		await: watch.begin,
		take(body) {
			try {
				const piece = body.take();
				if (piece !== undefined) watch.end();
				return piece;
			} catch (thrown) {
				throw toFailure(thrown);
			}
		},
		close() {
			watch.close();
			signal.removeEventListener("abort", abort);
			abort();
		},
	};
}

export const networkFailureKinds: Readonly<Record<NetworkFailure["kind"], ModelFailure["kind"]>> = {
	connection: "connection",
	timeout: "timeout",
	proxy: "connection",
	// Settings do not change between attempts.
	configuration: "provider",
	address: "provider",
	// The next attempt would exceed the limit as well.
	size: "provider",
};

function toConnectionFailure(thrown: unknown): RequestFailure {
	const { kind, message } = toNetworkFailure(thrown);
	const what = kind === "timeout" ? "timed out" : "failed";
	return requestFailure(networkFailureKinds[kind], `The connection to the provider ${what}: ${message}`);
}
