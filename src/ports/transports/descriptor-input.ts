// First access to Bun's `process.stdin` takes longer than the rest of startup. One thread waits for input.
import { read } from "node:fs";
import { systemErrorCode } from "../../base/errors.ts";

export interface ByteInput {
	on(event: "data", listener: (bytes: Buffer) => void): unknown;
	on(event: "end" | "error" | "close", listener: () => void): unknown;
	pause(): unknown;
	resume(): unknown;
	destroy(): unknown;
	readonly destroyed: boolean;
}

const chunkSize = 65_536;

/** Milliseconds between reads of a descriptor that another program made non-blocking. */
const patience = 5;

type ReadDescriptor = (descriptor: number, buffer: Buffer, done: (error: Error | null, size: number) => void) => void;

const readInPool: ReadDescriptor = (descriptor, buffer, done) =>
	read(descriptor, buffer, 0, buffer.length, null, (error, size) => done(error, size));

/** Starts reading with the first data listener. Ends at the end of file or on an error. */
export function createDescriptorInput(descriptor: number, readNext: ReadDescriptor = readInPool): ByteInput {
	const byteListeners: ((bytes: Buffer) => void)[] = [];
	const endListeners: (() => void)[] = [];
	let isPaused = true;
	let isReading = false;
	let isOver = false;
	/** Read while paused. */
	let waiting: Buffer | null = null;

	const end = (): void => {
		if (isOver) return;
		isOver = true;
		for (const listener of endListeners) listener();
	};
	const deliver = (bytes: Buffer): void => {
		for (const listener of byteListeners) listener(bytes);
	};
	const proceed = (): void => {
		if (isPaused || isReading || isOver) return;
		if (waiting !== null) {
			const bytes = waiting;
			waiting = null;
			deliver(bytes);
			if (isPaused) return;
		}
		isReading = true;
		const buffer = Buffer.allocUnsafe(chunkSize);
		readNext(descriptor, buffer, (error, size) => {
			isReading = false;
			if (isOver) return;
			if (systemErrorCode(error) === "EAGAIN") {
				setTimeout(proceed, patience);
				return;
			}
			if (error !== null || size === 0) return end();
			const bytes = buffer.subarray(0, size);
			if (isPaused) waiting = bytes;
			else deliver(bytes);
			proceed();
		});
	};
	const on: ByteInput["on"] = (event: string, listener: (bytes: Buffer) => void) => {
		if (event === "data") {
			byteListeners.push(listener);
			isPaused = false;
			queueMicrotask(proceed);
		} else if (event === "end") endListeners.push(() => listener(Buffer.alloc(0)));
	};
	return {
		on,
		pause() {
			isPaused = true;
		},
		resume() {
			isPaused = false;
			proceed();
		},
		destroy() {
			isOver = true;
		},
		get destroyed() {
			return isOver;
		},
	};
}
