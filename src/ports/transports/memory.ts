import { createDeferred, type Deferred } from "../../base/deferred.ts";
import { createInputSplitter, type Line } from "../../base/text/lines.ts";
import type { LineTransport } from "../rpc/transport.ts";
import { Outbox } from "./outbox.ts";

export interface MemoryClient {
	write(bytes: string | Buffer): void;
	end(): void;
	/** The next line from the server; null once it closed. */
	read(): Promise<string | null>;
	/** While paused, the client reads nothing from the server's outbox. */
	pause(): void;
	resume(): void;
	disconnect(): void;
}

/** `lineLimit` and `outboxLimit` are bytes, as for stdio. */
export function createMemoryTransport(
	lineLimit: number,
	outboxLimit: number,
): { transport: LineTransport; client: MemoryClient } {
	const splitter = createInputSplitter(lineLimit);
	const early: Line[] = [];
	let deliver: ((line: Line) => void) | null = null;
	let deliverEnd: (() => void) | null = null;
	let ended = false;
	let closed = false;
	let paused = false;
	let held: { text: string; done: () => void }[] = [];
	const arrived: string[] = [];
	let unfinished = "";
	let reader: Deferred<string | null> | null = null;

	const pass = (lines: readonly Line[]) => {
		for (const line of lines) {
			if (deliver === null) early.push(line);
			else deliver(line);
		}
	};
	const arrive = (text: string, done: () => void) => {
		const lines = (unfinished + text).split("\n");
		unfinished = lines.pop() ?? "";
		arrived.push(...lines);
		const line = reader === null ? undefined : arrived.shift();
		if (line !== undefined) {
			reader?.resolve(line);
			reader = null;
		}
		done();
	};
	const outbox = new Outbox((text, done) => {
		if (paused) held.push({ text, done });
		else setImmediate(() => arrive(text, done));
	}, outboxLimit);
	const close = () => {
		closed = true;
		reader?.resolve(null);
		reader = null;
	};
	outbox.gone.addEventListener("abort", close);

	return {
		transport: {
			receive(onLine, onEnd) {
				deliver = onLine;
				deliverEnd = onEnd;
				for (const line of early.splice(0)) onLine(line);
				if (ended) onEnd();
			},
			send: (line) => outbox.send(line),
			ready: () => outbox.ready(),
			isFull: () => outbox.isFull(),
			flush: () => outbox.flush(),
			gone: outbox.gone,
			close,
		},
		client: {
			write: (bytes) => pass(splitter.push(typeof bytes === "string" ? Buffer.from(bytes) : bytes)),
			end() {
				if (ended) return;
				ended = true;
				pass(splitter.end());
				deliverEnd?.();
			},
			async read() {
				const line = arrived.shift();
				if (line !== undefined) return line;
				if (closed) return null;
				reader ??= createDeferred();
				return reader.promise;
			},
			pause() {
				paused = true;
			},
			resume() {
				paused = false;
				for (const { text, done } of held.splice(0)) arrive(text, done);
				held = [];
			},
			disconnect: () => outbox.abandon(new Error("disconnected")),
		},
	};
}
