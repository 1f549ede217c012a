import type { Socket } from "node:net";

export interface ByteReader {
	peek(): Promise<number | null>;
	take(count: number): Promise<Buffer | null>;
	/** Bytes through the mark; null if the connection ends or the limit is reached before. */
	takeUntil(mark: string, limit: number): Promise<Buffer | null>;
	/** Stops reading. Returns bytes read but not taken, which cannot be put back into a socket that may have ended. */
	release(): Buffer;
}

const changes = ["data", "end", "close", "error"] as const;

export function createByteReader(socket: Socket): ByteReader {
	let bytes = Buffer.alloc(0);
	let isOver = false;
	let wake = (): void => undefined;
	const onData = (piece: Buffer): void => {
		bytes = Buffer.concat([bytes, piece]);
		// Backpressure for clients that send more.
		socket.pause();
		wake();
	};
	const onEnd = (): void => {
		isOver = true;
		wake();
	};
	socket.on("data", onData);
	for (const change of changes) if (change !== "data") socket.on(change, onEnd);
	const more = async (): Promise<boolean> => {
		if (isOver) return false;
		const before = bytes.length;
		await new Promise<void>((resolve) => {
			wake = resolve;
			socket.resume();
		});
		return bytes.length > before;
	};
	const cut = (count: number): Buffer => {
		const head = bytes.subarray(0, count);
		bytes = bytes.subarray(count);
		return head;
	};
	return {
		async peek() {
			while (bytes.length === 0) if (!(await more())) return null;
			return bytes[0] ?? null;
		},
		async take(count) {
			while (bytes.length < count) if (!(await more())) return null;
			return cut(count);
		},
		async takeUntil(mark, limit) {
			for (;;) {
				const at = bytes.indexOf(mark);
				if (at >= 0 && at + mark.length <= limit) return cut(at + mark.length);
				if (at >= 0 || bytes.length > limit || !(await more())) return null;
			}
		},
		release() {
			socket.pause();
			socket.off("data", onData);
			for (const change of changes) if (change !== "data") socket.off(change, onEnd);
			return bytes;
		},
	};
}
