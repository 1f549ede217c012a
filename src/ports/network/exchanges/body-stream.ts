// The body of an answer as a web stream: pulled, bounded, and delivered up to where it was interrupted.
import type { Readable } from "node:stream";
import type { Clock } from "../../../base/clock.ts";
import { registerSource } from "../body-source.ts";
import { NetworkError, silenceTimeout } from "../network-error.ts";
import { createSilenceWatch } from "./silence.ts";

export interface BodyLimits {
	/** Maximal bytes of a body, decoded; null for no limit. */
	readonly bytes: number | null;
	/** Milliseconds without a byte while one is awaited; 0 for no limit. */
	readonly silence: number;
	readonly clock: Clock;
}

export interface BodyStream {
	readonly stream: ReadableStream<Uint8Array>;
	/** Ends it with this error, at once. */
	abort(reason: unknown): void;
}

/** Bytes queued for the reader before the source is paused. */
const queueLimit = 64 * 1024;

/** A body that was garbage collected releases its connection, read or not. */
const abandoned = new FinalizationRegistry<() => void>((close) => close());

/**
 * `close` is called once, when nothing more will be read: the source may then be in any state. `toError` converts the
 * source's error to that of the stream.
 */
export function toBodyStream(
	source: Readable,
	{ bytes, silence, clock }: BodyLimits,
	toError: (thrown: unknown) => Error,
	close: () => void,
): BodyStream {
	// Nothing that lives as long as the source references the stream, or it could never be garbage collected. When the
	// source is done with, there is nothing left to release, and the registry forgets it: `close` may reference the signal
	// of the request, whose reason may reference anything.
	let queue: Uint8Array[] = [];
	let queued = 0;
	let total = 0;
	let failure: { readonly error: unknown } | null = null;
	let isEnded = false;
	let isClosed = false;
	const registration = {};
	let wake = () => {};

	const finish = () => {
		if (isClosed) return;
		isClosed = true;
		abandoned.unregister(registration);
		watch.close();
		close();
		wake();
	};
	const fail = (error: unknown) => {
		if (isEnded || failure !== null) return;
		failure = { error };
		finish();
	};
	const abort = (reason: unknown) => {
		if (failure === null) failure = { error: reason };
		queue = [];
		finish();
	};
	const watch = createSilenceWatch(clock, () => fail(toError(silenceTimeout(silence))));

	source.on("data", (piece: Uint8Array) => {
		if (isClosed) return;
		total += piece.length;
		if (bytes !== null && total > bytes) {
			const limit = `${Math.floor(bytes / 1024 / 1024)} MiB`;
			fail(toError(new NetworkError("size", `the answer has more than ${limit}, and was broken off`)));
			return;
		}
		queue.push(piece);
		queued += piece.length;
		if (queued >= queueLimit) source.pause();
		wake();
	});
	source.on("end", () => {
		if (failure !== null) return;
		isEnded = true;
		finish();
	});
	source.on("error", (error) => fail(toError(error)));
	source.on("close", () => fail(toError(new Error("the connection ended before the answer did"))));

	const take = (): Uint8Array | null | undefined => {
		const [first] = queue;
		if (first !== undefined) {
			// All at once: servers may send many small chunks, and each would be a turn of the reader.
			const pieces = queue.length === 1 ? first : Buffer.concat(queue, queued);
			queue = [];
			queued = 0;
			if (source.isPaused() && !isClosed) source.resume();
			return pieces;
		}
		if (failure !== null) throw failure.error;
		return isEnded ? null : undefined;
	};
	const arrival = (): Promise<void> => {
		if (queue.length > 0 || failure !== null || isEnded) return Promise.resolve();
		if (silence > 0) watch.begin(silence);
		return new Promise((resolve) => {
			wake = () => {
				wake = () => {};
				watch.end();
				resolve();
			};
		});
	};
	const next = async (): Promise<Uint8Array | null> => {
		for (;;) {
			const piece = take();
			if (piece !== undefined) return piece;
			await arrival();
		}
	};

	const stream = new ReadableStream<Uint8Array>(
		{
			async pull(controller) {
				const piece = await next();
				if (piece === null) controller.close();
				else controller.enqueue(piece);
			},
			cancel: () => abort(new Error("nobody reads the answer any more")),
		},
		// Data wait in `queue` instead.
		{ highWaterMark: 0 },
	);
	if (!isClosed) abandoned.register(stream, finish, registration);
	registerSource(stream, { take, arrival });
	return { stream, abort };
}
