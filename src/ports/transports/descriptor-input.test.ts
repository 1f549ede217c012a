import { expect, it, vi } from "vitest";
import { createDescriptorInput } from "./descriptor-input.ts";

type Done = (error: Error | null, size: number) => void;

/** A descriptor whose reads the test answers. */
function createReads() {
	const reads: { readonly buffer: Buffer; readonly done: Done }[] = [];
	const input = createDescriptorInput(0, (_descriptor, buffer, done) => void reads.push({ buffer, done }));
	const received: string[] = [];
	const end = vi.fn();
	const listen = async () => {
		input.on("end", end);
		input.on("data", (bytes) => void received.push(bytes.toString()));
		await Promise.resolve();
	};
	const answer = (text: string) => {
		const next = reads.shift();
		next?.done(null, next.buffer.write(text));
	};
	const fail = (code: string) => reads.shift()?.done(Object.assign(new Error(code), { code }), 0);
	return { input, reads, received, end, listen, answer, fail };
}

it("reads nothing before somebody listens, then one chunk at a time", async () => {
	const { reads, received, listen, answer } = createReads();
	expect(reads).toHaveLength(0);
	await listen();
	expect(reads).toHaveLength(1);
	answer("one");
	answer("two");
	expect(received).toEqual(["one", "two"]);
	expect(reads).toHaveLength(1);
});

it("retains what was read while it was paused, and reads no more until it is resumed", async () => {
	const { input, reads, received, listen, answer } = createReads();
	await listen();
	input.pause();
	answer("one");
	expect(received).toEqual([]);
	expect(reads).toHaveLength(0);
	input.resume();
	expect(received).toEqual(["one"]);
	expect(reads).toHaveLength(1);
});

it.each([
	["the end of the file", ({ answer }: ReturnType<typeof createReads>) => answer("")],
	["an error", ({ fail }: ReturnType<typeof createReads>) => void fail("EIO")],
])("ends once at %s", async (_name, finish) => {
	const given = createReads();
	await given.listen();
	finish(given);
	expect(given.end).toHaveBeenCalledTimes(1);
	expect(given.input.destroyed).toBe(true);
	expect(given.reads).toHaveLength(0);
});

it("looks again at a descriptor that does not wait", async () => {
	vi.useFakeTimers();
	try {
		const { received, listen, answer, fail, end } = createReads();
		await listen();
		fail("EAGAIN");
		expect(end).not.toHaveBeenCalled();
		vi.advanceTimersByTime(5);
		answer("one");
		expect(received).toEqual(["one"]);
	} finally {
		vi.useRealTimers();
	}
});

it("delivers nothing after it was destroyed", async () => {
	const { input, received, end, listen, answer } = createReads();
	await listen();
	input.destroy();
	answer("one");
	expect(received).toEqual([]);
	expect(end).not.toHaveBeenCalled();
});
