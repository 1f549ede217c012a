// The line transport that a connection requires, implemented by transports/.
import type { Line } from "../../base/text/lines.ts";
import type { LineText } from "../../base/text/long-text.ts";

/** A duplex line stream. Sending never blocks; producers of much data await `ready`. */
export interface LineTransport {
	/** Calls back with each line, then once at the end of input. Call it at most once. */
	receive(onLine: (line: Line) => void, onEnd: () => void): void;
	/** Queues one line (without newline). Drops it once the peer is gone. */
	send(line: LineText): void;
	/** Resolves when the queue is below the outbox limit or the peer is gone. */
	ready(): Promise<void>;
	/** Whether `ready` would wait. */
	isFull(): boolean;
	/** Resolves when the operating system has accepted everything, or the peer is gone. */
	flush(): Promise<void>;
	/** Aborts when nothing more can be sent. */
	readonly gone: AbortSignal;
	/** Stops receiving and releases the streams. */
	close(): void;
}
