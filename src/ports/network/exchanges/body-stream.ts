import type { Readable } from "node:stream";
import type { Clock } from "../../../base/clock.ts";
import { type BodySource, registerSource } from "../body-source.ts";
import { NetworkError, silenceTimeout } from "../network-error.ts";
import { createSilenceWatch, type SilenceWatch } from "./silence.ts";

export interface BodyLimits {
	readonly bytes: number | null;
	/** Maximum milliseconds of silence while data is awaited; 0 for no limit. */
	readonly silence: number;
	readonly clock: Clock;
}

export interface BodyStream {
	readonly stream: ReadableStream<Uint8Array>;
	abort(reason: unknown): void;
}

/** Bytes queued for the reader before the source is paused. */
const queueLimit = 64 * 1024;

/** A garbage-collected body releases its connection, whether it was read or not. */
const abandoned = new FinalizationRegistry<BodyQueue>((queue) => queue.close());

/** `close` is called once, when nothing more will be read. */
export function toBodyStream(
	source: Readable,
	limits: BodyLimits,
	toError: (thrown: unknown) => Error,
	close: () => void,
): BodyStream {
	const queue = new BodyQueue(source, limits, toError, close);
	const stream = new ReadableStream<Uint8Array>(
		{
			async pull(controller) {
				const piece = await queue.next();
				if (piece === null) controller.close();
				else controller.enqueue(piece);
			},
			cancel: () => queue.abort(new Error("nobody reads the answer anymore")),
		},
		// Data waits in `queue` instead.
		{ highWaterMark: 0 },
	);
	if (!queue.isClosed) abandoned.register(stream, queue, queue);
	registerSource(stream, queue);
	return { stream, abort: (reason) => queue.abort(reason) };
}

/** Must not reference the stream, which could then never be garbage collected; when closed, leaves the registry. */
class BodyQueue implements BodySource {
	isClosed = false;
	readonly #source: Readable;
	readonly #limits: BodyLimits;
	readonly #toError: (thrown: unknown) => Error;
	readonly #onClose: () => void;
	readonly #watch: SilenceWatch;
	#pieces: Uint8Array[] = [];
	#queued = 0;
	#total = 0;
	#failure: { readonly error: unknown } | null = null;
	#isEnded = false;
	#wake = () => {};

	constructor(source: Readable, limits: BodyLimits, toError: (thrown: unknown) => Error, onClose: () => void) {
		this.#source = source;
		this.#limits = limits;
		this.#toError = toError;
		this.#onClose = onClose;
		this.#watch = createSilenceWatch(limits.clock, () => this.#fail(silenceTimeout(limits.silence)));
		source.on("data", (piece: Uint8Array) => this.#add(piece));
		source.on("end", () => {
			if (this.#failure !== null) return;
			this.#isEnded = true;
			this.close();
		});
		source.on("error", (error) => this.#fail(error));
		source.on("close", () => this.#fail(new Error("the connection ended before the answer did")));
	}

	abort(reason: unknown): void {
		if (this.#failure === null) this.#failure = { error: reason };
		this.#pieces = [];
		this.close();
	}

	close(): void {
		if (this.isClosed) return;
		this.isClosed = true;
		abandoned.unregister(this);
		this.#watch.close();
		this.#onClose();
		this.#wake();
	}

	take(): Uint8Array | null | undefined {
		const [first] = this.#pieces;
		if (first !== undefined) {
			// All at once: servers may send many small chunks, and each would cost the reader a turn.
			const pieces = this.#pieces.length === 1 ? first : Buffer.concat(this.#pieces, this.#queued);
			this.#pieces = [];
			this.#queued = 0;
			if (this.#source.isPaused() && !this.isClosed) this.#source.resume();
			return pieces;
		}
		if (this.#failure !== null) throw this.#failure.error;
		return this.#isEnded ? null : undefined;
	}

	arrival(): Promise<void> {
		if (this.#pieces.length > 0 || this.#failure !== null || this.#isEnded) return Promise.resolve();
		if (this.#limits.silence > 0) this.#watch.begin(this.#limits.silence);
		return new Promise((resolve) => {
			this.#wake = () => {
				this.#wake = () => {};
				this.#watch.end();
				resolve();
			};
		});
	}

	async next(): Promise<Uint8Array | null> {
		for (;;) {
			const piece = this.take();
			if (piece !== undefined) return piece;
			await this.arrival();
		}
	}

	#add(piece: Uint8Array): void {
		if (this.isClosed) return;
		this.#total += piece.length;
		const limit = this.#limits.bytes;
		if (limit !== null && this.#total > limit) {
			const text = `the answer has more than ${Math.floor(limit / 1024 / 1024)} MiB, and was cut off`;
			this.#fail(new NetworkError("size", text));
			return;
		}
		this.#pieces.push(piece);
		this.#queued += piece.length;
		if (this.#queued >= queueLimit) this.#source.pause();
		this.#wake();
	}

	#fail(thrown: unknown): void {
		if (this.#isEnded || this.#failure !== null) return;
		this.#failure = { error: this.#toError(thrown) };
		this.close();
	}
}
