// The transport of lines that a connection requires; transports/ implements it.
import type { Line } from "../../base/text/lines.ts";
import type { LineText } from "../../base/text/long-text.ts";

/** A duplex of lines. Sending never blocks; producers of much data await `ready`. */
export interface LineTransport {
	/** Calls back with each line as it arrives, then once with the end of input. May be called once. */
	receive(onLine: (line: Line) => void, onEnd: () => void): void;
	/** Queues one line (without its newline); dropped once the other side is gone. */
	send(line: LineText): void;
	/** Resolves while less than the outbox limit is queued, and when the other side is gone. */
	ready(): Promise<void>;
	/** Whether `ready` would wait. */
	isFull(): boolean;
	/** Resolves when everything queued was passed to the operating system, or the other side is gone. */
	flush(): Promise<void>;
	/** Aborts when nothing more can be sent. */
	readonly gone: AbortSignal;
	/** Stops receiving and releases the streams. */
	close(): void;
}
