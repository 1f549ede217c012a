import { PassThrough } from "node:stream";
import { expect, it, vi } from "vitest";
import { createPeekedInput } from "./peeked-input.ts";

const settled = () => new Promise((resolve) => setImmediate(resolve));

it("shows the first bytes, and hands them on with all that follows, in order", async () => {
	const stream = new PassThrough();
	const input = createPeekedInput(stream);
	stream.write("one\n");
	expect((await input.first)?.toString()).toBe("one\n");
	stream.write("two\n");
	const received: string[] = [];
	const end = vi.fn();
	input.on("end", end);
	input.on("data", (bytes) => void received.push(bytes.toString()));
	stream.end("three\n");
	await vi.waitUntil(() => end.mock.calls.length > 0);
	expect(received.join("")).toBe("one\ntwo\nthree\n");
	expect(end).toHaveBeenCalledTimes(1);
});

it("reads nothing ahead of the first bytes", async () => {
	const stream = new PassThrough();
	const input = createPeekedInput(stream);
	stream.write("one");
	await input.first;
	stream.write("two");
	await settled();
	expect(stream.readableLength).toBe(3);
});

it("says that an input has ended that had nothing, also to a later listener", async () => {
	const stream = new PassThrough();
	const input = createPeekedInput(stream);
	stream.end();
	expect(await input.first).toBeNull();
	expect(input.destroyed).toBe(true);
});

it("hands on what came before the input broke, and then its end", async () => {
	const stream = new PassThrough();
	const input = createPeekedInput(stream);
	stream.write("one\n");
	await input.first;
	stream.destroy(new Error("broken"));
	await settled();
	expect(input.destroyed).toBe(false);
	const order: string[] = [];
	input.on("end", () => order.push("end"));
	input.on("data", (bytes) => order.push(bytes.toString()));
	await settled();
	expect(order).toEqual(["one\n", "end"]);
});

it("is paused by the listener for its first bytes", async () => {
	const stream = new PassThrough();
	const input = createPeekedInput(stream);
	stream.write("one");
	await input.first;
	stream.write("two");
	const received: string[] = [];
	input.on("data", (bytes) => {
		received.push(bytes.toString());
		input.pause();
	});
	await settled();
	expect(received).toEqual(["one"]);
	input.resume();
	await settled();
	expect(received).toEqual(["one", "two"]);
});
