import type { Line } from "../../base/text/lines.ts";
import type { LineText } from "../../base/text/long-text.ts";

/** A duplex line stream. Sending never blocks; producers of much data await `ready`. */
export interface LineTransport {
	/** Calls back with each line, then once at the end of input. Call it at most once. */
	receive(onLine: (line: Line) => void, onEnd: () => void): void;
	send(line: LineText): void;
	/** Resolves when the queue is below the outbox limit or the peer is gone. */
	ready(): Promise<void>;
	/** Whether `ready` would wait. */
	isFull(): boolean;
	flush(): Promise<void>;
	/** Aborts when nothing more can be sent. */
	readonly gone: AbortSignal;
	close(): void;
}
