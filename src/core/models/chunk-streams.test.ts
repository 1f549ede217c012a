// Streams of chunks that are made of others: what is read, changed, ended and left early.
import { describe, expect, test } from "vitest";
import { createDeferred } from "../../base/deferred.ts";
import { changedChunks, chunksOf, openedLater } from "./chunk-streams.ts";
import { type ModelChunk, modelFailure } from "./model.ts";

const text = (text: string): ModelChunk => ({ type: "parts", parts: [{ type: "text", text }] });
const done: ModelChunk = { type: "done", usage: null, messageId: null };

/** A stream that notes what happens to it. */
function watched(...chunks: readonly ModelChunk[]) {
	const seen: string[] = [];
	async function* stream(): AsyncGenerator<ModelChunk, void> {
		try {
			for (const chunk of chunks) {
				seen.push(`read ${chunk.type}`);
				yield chunk;
			}
			seen.push("ended");
		} finally {
			seen.push("closed");
		}
	}
	return { stream: stream(), seen };
}

async function all(stream: AsyncIterable<ModelChunk>): Promise<ModelChunk[]> {
	const chunks: ModelChunk[] = [];
	for await (const chunk of stream) chunks.push(chunk);
	return chunks;
}

const twice = (chunk: ModelChunk): ModelChunk =>
	chunk.type === "parts" ? { type: "parts", parts: [...chunk.parts, ...chunk.parts] } : chunk;

describe("changed chunks", () => {
	test("has every chunk in order, changed, and ends where the source ends", async () => {
		const { stream, seen } = watched(text("a"), text("b"), done);
		const a = { type: "text", text: "a" };
		const b = { type: "text", text: "b" };
		expect(await all(changedChunks(stream, twice))).toEqual([
			{ type: "parts", parts: [a, a] },
			{ type: "parts", parts: [b, b] },
			done,
		]);
		expect(seen).toEqual(["read parts", "read parts", "read done", "ended", "closed"]);
	});

	test("applies one change after the other, the first one first", async () => {
		const tag = (mark: string) => (chunk: ModelChunk) =>
			chunk.type === "parts"
				? text(`${chunk.parts.map((part) => (part.type === "text" ? part.text : "")).join("")}${mark}`)
				: chunk;
		const stream = changedChunks(changedChunks(changedChunks(chunksOf(text("a"), done), tag("1")), tag("2")), tag("3"));
		expect(await all(stream)).toEqual([text("a123"), done]);
	});

	test("reads nothing before it is asked, and one chunk at a time", async () => {
		const { stream, seen } = watched(text("a"), text("b"), done);
		const changed = changedChunks(stream, (chunk) => chunk)[Symbol.asyncIterator]();
		expect(seen).toEqual([]);
		await changed.next();
		expect(seen).toEqual(["read parts"]);
	});

	test("ends with a failure that a change makes of a chunk, and closes the source", async () => {
		const { stream, seen } = watched(text("a"), text("b"), done);
		const failure = modelFailure("provider", "Too long.");
		let count = 0;
		const changed = changedChunks(stream, (chunk) => {
			count += 1;
			return count === 2 ? failure : chunk;
		});
		expect(await all(changed)).toEqual([text("a"), failure]);
		expect(seen).toEqual(["read parts", "read parts", "closed"]);
	});

	test("closes the source when it is left early, and says no more", async () => {
		const { stream, seen } = watched(text("a"), text("b"), done);
		const changed = changedChunks(stream, (chunk) => chunk);
		for await (const _ of changed) break;
		expect(seen).toEqual(["read parts", "closed"]);
		expect(await all(changed)).toEqual([]);
	});

	test("closes the source when a change throws", async () => {
		const { stream, seen } = watched(text("a"), text("b"), done);
		const changed = changedChunks(stream, () => {
			throw new Error("broken");
		});
		await expect(all(changed)).rejects.toThrow("broken");
		expect(seen).toEqual(["read parts", "closed"]);
		expect(await all(changed)).toEqual([]);
	});

	test("passes an error of the source on", async () => {
		async function* broken(): AsyncGenerator<ModelChunk, void> {
			yield text("a");
			throw new Error("broken");
		}
		const changed = changedChunks(broken(), (chunk) => chunk)[Symbol.asyncIterator]();
		await changed.next();
		await expect(changed.next()).rejects.toThrow("broken");
	});
});

describe("a stream that is opened later", () => {
	test("is opened by the first reading, once", async () => {
		let opened = 0;
		const stream = openedLater(async () => {
			opened += 1;
			return chunksOf(text("a"), done);
		});
		expect(opened).toBe(0);
		expect(await all(stream)).toEqual([text("a"), done]);
		expect(opened).toBe(1);
	});

	test("reads nothing when it is left while it is being opened", async () => {
		const opening = createDeferred<AsyncIterable<ModelChunk, void>>();
		const { stream, seen } = watched(text("a"), done);
		const later = openedLater(() => opening.promise)[Symbol.asyncIterator]();
		const first = later.next();
		await later.return?.();
		opening.resolve(stream);
		expect(await first).toEqual({ done: true, value: undefined });
		expect(seen).toEqual([]);
	});

	test("is not opened when it is left before", async () => {
		let opened = 0;
		const stream = openedLater(async () => {
			opened += 1;
			return chunksOf(done);
		});
		await stream[Symbol.asyncIterator]().return?.();
		expect(await all(stream)).toEqual([]);
		expect(opened).toBe(0);
	});
});
