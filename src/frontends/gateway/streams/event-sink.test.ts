import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { ResponseSink } from "./event-sink.ts";
import { WriteRounds } from "./write-rounds.ts";

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

/** What a sink uses of an answer. */
class Response extends EventEmitter {
	readonly written: string[] = [];
	writableNeedDrain = false;

	write(text: string): boolean {
		this.written.push(text);
		return true;
	}
}

function createSubject() {
	const response = new Response();
	const ending = new AbortController();
	const sink = new ResponseSink(response as unknown as ServerResponse, ending.signal, new WriteRounds(() => false));
	return { response, ending, sink };
}

describe("ResponseSink", () => {
	it("writes once what is said in one turn of the event loop, in its order", async () => {
		const { response, sink } = createSubject();
		sink.write("a");
		sink.write("b");
		expect(response.written).toEqual([]);
		await settled();
		sink.write("c");
		await settled();
		expect(response.written).toEqual(["ab", "c"]);
	});

	it("does not let much wait", () => {
		const { response, sink } = createSubject();
		sink.write("a");
		sink.write("x".repeat(64 * 1024));
		expect(response.written.join("")).toHaveLength(64 * 1024 + 1);
	});

	it("writes what waits when it is flushed, and nothing to a client that is gone", async () => {
		const { response, ending, sink } = createSubject();
		sink.write("a");
		sink.flush();
		expect(response.written).toEqual(["a"]);
		sink.write("b");
		ending.abort();
		await settled();
		sink.write("c");
		sink.flush();
		expect(response.written).toEqual(["a"]);
	});

	it.each(["has read", "is gone"])("is full until the client %s", async (what) => {
		const { response, ending, sink } = createSubject();
		response.writableNeedDrain = true;
		expect(sink.isFull()).toBe(true);
		let isDrained = false;
		const drained = sink.drained().then(() => {
			isDrained = true;
		});
		await settled();
		expect(isDrained).toBe(false);
		if (what === "is gone") ending.abort();
		else {
			response.writableNeedDrain = false;
			response.emit("drain");
		}
		await drained;
		expect(sink.isFull()).toBe(false);
		expect(response.listenerCount("drain")).toBe(0);
	});
});
