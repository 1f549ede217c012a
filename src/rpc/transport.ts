// What a connection needs of the thing that carries its lines. Implementations live in transports/.
import type { Line } from "../base/lines.ts";
import type { LineText } from "../base/long-text.ts";

/** A duplex of lines. Sending never blocks; who produces much waits for `ready`. */
export interface LineTransport {
	/** Calls back with every batch of lines as it arrives, then once with the end of input. May be called once. */
	receive(onLines: (lines: readonly Line[]) => void, onEnd: () => void): void;
	/** Queues one line (without its newline); dropped once the other side is gone. */
	send(line: LineText): void;
	/** Resolves while less than the outbox limit is queued, and when the other side is gone. */
	ready(): Promise<void>;
	/** Resolves when everything queued was handed to the operating system, or the other side is gone. */
	flush(): Promise<void>;
	/** Aborts when nothing can be sent any more. */
	readonly gone: AbortSignal;
	/** Stops receiving and releases the streams. */
	close(): void;
}
