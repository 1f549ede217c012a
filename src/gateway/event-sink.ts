// Where a stream of events is written to: the answer to one request. What is said to it within one turn of the event loop is
// one write, so that the more there is to do, the less each event costs.
import type { ServerResponse } from "node:http";

export interface EventSink {
	write(text: string): void;
	/** Whether the client has yet to read before more should be written. */
	isFull(): boolean;
	/** Resolves once it is not full, or the client is gone. */
	drained(): Promise<void>;
	/** Aborts when the client is gone or the stream has to end. */
	readonly gone: AbortSignal;
}

/** Characters that are written without waiting for the end of the turn. */
const pieceSize = 64 * 1024;

export class ResponseSink implements EventSink {
	readonly #response: ServerResponse;
	readonly gone: AbortSignal;
	#waiting = "";
	#isScheduled = false;

	constructor(response: ServerResponse, gone: AbortSignal) {
		this.#response = response;
		this.gone = gone;
	}

	write(text: string): void {
		if (this.gone.aborted) return;
		this.#waiting += text;
		if (this.#waiting.length >= pieceSize) this.flush();
		else if (!this.#isScheduled) this.#flushLater();
	}

	/** Writes what waits. */
	flush(): void {
		const text = this.#waiting;
		this.#waiting = "";
		if (text !== "" && !this.gone.aborted) this.#response.write(text);
	}

	#flushLater(): void {
		this.#isScheduled = true;
		setImmediate(() => {
			this.#isScheduled = false;
			this.flush();
		});
	}

	isFull(): boolean {
		return !this.gone.aborted && this.#response.writableNeedDrain;
	}

	drained(): Promise<void> {
		if (!this.isFull()) return Promise.resolve();
		return new Promise((resolve) => {
			const settle = () => {
				this.#response.off("drain", settle);
				this.gone.removeEventListener("abort", settle);
				resolve();
			};
			this.#response.once("drain", settle);
			this.gone.addEventListener("abort", settle);
		});
	}
}
