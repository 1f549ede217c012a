import type { RelayPipes, RelaySocket } from "./relay-pipes.ts";

interface BunRuntime {
	readonly stdin: { stream(): AsyncIterable<Uint8Array> };
	readonly stdout: { writer(): { write(bytes: Uint8Array): unknown; flush(): unknown } };
	gc(synchronous: boolean): void;
	connect(options: {
		readonly unix: string;
		readonly allowHalfOpen: true;
		readonly socket: BunHandlers;
	}): Promise<BunSocket>;
}

interface BunHandlers {
	data(socket: BunSocket, bytes: Uint8Array): void;
	drain(): void;
	end(): void;
	close(): void;
	error(): void;
}

interface BunSocket {
	/** Returns how many bytes were taken; fewer than 0 after the end. */
	write(bytes: Uint8Array): number;
	shutdown(): void;
	terminate(): void;
	pause(): void;
	resume(): void;
}

/** Milliseconds until a relay has started. */
const startTime = 500;

/** Bytes that may wait for a reader. */
const waitingLimit = 262_144;

export function bunPipes(): RelayPipes {
	const bun: BunRuntime = Reflect.get(globalThis, "Bun");
	let writer: ReturnType<BunRuntime["stdout"]["writer"]> | null = null;
	return {
		connect: (file) => connect(bun, file),
		async *input() {
			// What starting leaves behind would stay as long as the relay.
			setTimeout(() => bun.gc(true), startTime).unref();
			try {
				yield* bun.stdin.stream();
			} catch {
				// A broken pipe has ended.
			}
		},
		async output(bytes) {
			writer ??= bun.stdout.writer();
			writer.write(bytes);
			await writer.flush();
		},
	};
}

async function connect(bun: BunRuntime, file: string): Promise<RelaySocket | null> {
	const waiting: Uint8Array[] = [];
	let size = 0;
	let isOver = false;
	let wake = (): void => {};
	let onDrain = (): void => {};
	const finish = (): void => {
		isOver = true;
		wake();
		onDrain();
	};
	const handlers: BunHandlers = {
		data(socket, bytes) {
			waiting.push(bytes);
			size += bytes.length;
			if (size > waitingLimit) socket.pause();
			wake();
		},
		drain: () => onDrain(),
		end: finish,
		close: finish,
		error: finish,
	};
	const socket = await bun.connect({ unix: file, allowHalfOpen: true, socket: handlers }).catch(() => null);
	if (socket === null) return null;
	async function* receive(from: BunSocket): AsyncGenerator<Uint8Array, void> {
		for (;;) {
			const bytes = waiting.shift();
			if (bytes !== undefined) {
				if (size > waitingLimit && size - bytes.length <= waitingLimit) from.resume();
				size -= bytes.length;
				yield bytes;
			} else if (isOver) return;
			else await new Promise<void>((resolve) => (wake = resolve));
		}
	}
	return {
		received: receive(socket),
		async write(bytes) {
			for (let rest = bytes; rest.length > 0 && !isOver; ) {
				const taken = socket.write(rest);
				if (taken < 0) return;
				rest = rest.subarray(taken);
				if (rest.length > 0 && !isOver) await new Promise<void>((resolve) => (onDrain = resolve));
			}
		},
		end: () => socket.shutdown(),
		destroy() {
			socket.terminate();
			finish();
		},
	};
}
