// Under Bun, Node's sockets fail on a full pipe and block on a full socket; native sinks do not.
import type { WriteText } from "./outbox.ts";

/** The subset of Bun's sinks in use. Returns a promise while the reader is slow. */
interface Sink {
	write(text: string): unknown;
	flush(): unknown;
}

const bufferSize = 1_048_576;

export function createSinkWriter(descriptor: number): WriteText {
	const sink = openSink(descriptor);
	return (text, done) => {
		const finish = (): void => done();
		const fail = (reason: unknown): void => done(reason instanceof Error ? reason : new Error(String(reason)));
		try {
			const written = sink.write(text);
			const flushed = sink.flush();
			if (written instanceof Promise || flushed instanceof Promise) {
				void Promise.all([written, flushed]).then(finish, fail);
			} else {
				queueMicrotask(finish);
			}
		} catch (thrown) {
			queueMicrotask(() => fail(thrown));
		}
	};
}

function openSink(descriptor: number): Sink {
	const bun: unknown = Reflect.get(globalThis, "Bun");
	const file = callMethod(bun, "file", descriptor);
	const sink = callMethod(file, "writer", { highWaterMark: bufferSize });
	return {
		write: (text) => callMethod(sink, "write", text),
		flush: () => callMethod(sink, "flush"),
	};
}

/** Bun's types are not available alongside Node's. */
function callMethod(owner: unknown, name: string, ...values: readonly unknown[]): unknown {
	if (typeof owner !== "object" && typeof owner !== "function") throw new Error(`Bun has nothing to call ${name} of.`);
	const method: unknown = owner === null ? null : Reflect.get(owner, name);
	if (typeof method !== "function") throw new Error(`Bun has no ${name} as it is used here.`);
	return Reflect.apply(method, owner, values);
}
