// Batches all messages before the next write round, so that the cost per event falls under load.
import type { ServerResponse } from "node:http";
import type { WriteRounds } from "./write-rounds.ts";

export interface EventSink {
	write(text: string): void;
	isFull(): boolean;
	drained(): Promise<void>;
	/** Aborts when the client disconnects or the stream must end. */
	readonly gone: AbortSignal;
}

/** Characters that are written without waiting for the next round. */
const pieceSize = 64 * 1024;

export class ResponseSink implements EventSink {
	readonly #response: ServerResponse;
	readonly gone: AbortSignal;
	readonly #rounds: Pick<WriteRounds, "add">;
	#waiting = "";
	/** Mirrors `gone`, which is slower to check than an event is to write. */
	#isGone: boolean;

	constructor(response: ServerResponse, gone: AbortSignal, rounds: Pick<WriteRounds, "add">) {
		this.#response = response;
		this.#rounds = rounds;
		this.gone = gone;
		this.#isGone = gone.aborted;
		gone.addEventListener("abort", () => {
			this.#isGone = true;
		});
	}

	write(text: string): void {
		if (this.#isGone) return;
		this.#waiting += text;
		if (this.#waiting.length >= pieceSize) this.flush();
		else this.#rounds.add(this.flush);
	}

	readonly flush = (): void => {
		const text = this.#waiting;
		this.#waiting = "";
		if (text !== "" && !this.#isGone) this.#response.write(text);
	};

	isFull(): boolean {
		return !this.#isGone && this.#response.writableNeedDrain;
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
