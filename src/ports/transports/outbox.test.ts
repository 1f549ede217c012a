import { describe, expect, it } from "vitest";
import { longestPause, shortestPause } from "../../../test/support/host/pauses.ts";
import { toLineText } from "../../base/text/long-text.ts";
import { Outbox } from "./outbox.ts";

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

function createSubject(limit = 10) {
	const writes: { readonly text: string; readonly done: (error?: Error | null) => void }[] = [];
	const outbox = new Outbox((text, done) => void writes.push({ text, done }), limit);
	const isPending = async (promise: Promise<void>) => {
		let pending = true;
		void promise.then(() => {
			pending = false;
		});
		await settled();
		return pending;
	};
	return { outbox, writes, isPending, texts: () => writes.map(({ text }) => text) };
}

describe("Outbox", () => {
	it("joins concurrent writes and writes during a write, in order", async () => {
		const { outbox, writes, texts } = createSubject();
		outbox.send("a");
		outbox.send("b");
		await settled();
		outbox.send("c");
		outbox.send("d");
		await settled();
		expect(texts()).toEqual(["a\nb\n"]);
		writes[0]?.done();
		await settled();
		expect(texts()).toEqual(["a\nb\n", "c\nd\n"]);
	});

	it("writes the first line of a turn of the event loop before anything else, and the others together", async () => {
		const texts: string[] = [];
		const outbox = new Outbox((text, done) => {
			texts.push(text);
			done();
		}, 1_000_000);
		for (const line of ["a", "b", "c"]) {
			outbox.send(line);
			await Promise.resolve();
			await Promise.resolve();
			expect(texts).toEqual(["a\n"]);
		}
		await settled();
		expect(texts).toEqual(["a\n", "b\nc\n"]);
		await settled();
		outbox.send("d");
		await Promise.resolve();
		expect(texts[2]).toBe("d\n");
	});

	it("writes much text before the turn of the event loop ends", async () => {
		const { outbox, writes, texts } = createSubject(1_000_000);
		const piece = "x".repeat(5000);
		outbox.send("a");
		await Promise.resolve();
		writes[0]?.done();
		outbox.send(piece);
		await Promise.resolve();
		expect(writes.length).toBe(1);
		outbox.send(piece);
		expect(texts()[1]).toBe(`${piece}\n${piece}\n`);
		outbox.send("b");
		await settled();
		expect(writes.length).toBe(2);
		writes[1]?.done();
		await settled();
		expect(texts()[2]).toBe("b\n");
	});

	it("appends nothing to text that must be written unchanged", async () => {
		const texts: string[] = [];
		const outbox = new Outbox((text) => void texts.push(text), 10, "");
		outbox.send("a");
		outbox.send("b\n");
		await settled();
		expect(texts).toEqual(["ab\n"]);
		expect(outbox.queued()).toBe(3);
	});

	it("is ready only below its limit, the data being written included", async () => {
		const { outbox, writes, isPending } = createSubject(6);
		outbox.send("abc");
		expect(await isPending(outbox.ready())).toBe(false);
		outbox.send("d");
		expect(outbox.queued()).toBe(6);
		const ready = outbox.ready();
		expect(await isPending(ready)).toBe(true);
		writes[0]?.done();
		expect(await isPending(ready)).toBe(false);
	});

	it("stays unready while writes during a write fill it again", async () => {
		const { outbox, writes, isPending } = createSubject(4);
		outbox.send("abcd");
		await settled();
		const ready = outbox.ready();
		outbox.send("efgh");
		writes[0]?.done();
		expect(await isPending(ready)).toBe(true);
		writes[1]?.done();
		expect(await isPending(ready)).toBe(false);
	});

	it("drops no line above the limit", async () => {
		const { outbox, writes, texts } = createSubject(2);
		for (let n = 0; n < 5; n += 1) outbox.send(`line ${n}`);
		await settled();
		writes[0]?.done();
		expect(texts().join("")).toBe("line 0\nline 1\nline 2\nline 3\nline 4\n");
	});

	it("is flushed when everything was written, later writes included", async () => {
		const { outbox, writes, isPending } = createSubject();
		await outbox.flush();
		outbox.send("a");
		const flushed = outbox.flush();
		await settled();
		outbox.send("b");
		writes[0]?.done();
		expect(await isPending(flushed)).toBe(true);
		writes[1]?.done(null);
		expect(await isPending(flushed)).toBe(false);
	});

	it.each([["a failing write"], ["being abandoned"]])("releases everybody after %s", async (cause) => {
		const { outbox, writes } = createSubject(1);
		outbox.send("a");
		await settled();
		outbox.send("b");
		const waiting = [outbox.ready(), outbox.ready(), outbox.flush()];
		const reason = new Error("EPIPE");
		if (cause === "a failing write") writes[0]?.done(reason);
		else outbox.abandon(reason);
		await Promise.all(waiting);
		expect(outbox.gone.aborted).toBe(true);
		expect(outbox.gone.reason).toBe(reason);
		writes[0]?.done();
		outbox.send("c");
		await settled();
		expect(writes).toHaveLength(1);
		expect(outbox.queued()).toBe(0);
		await Promise.all([outbox.ready(), outbox.flush()]);
	});

	it("can be abandoned once", async () => {
		const { outbox } = createSubject();
		outbox.abandon(new Error("first"));
		outbox.abandon(new Error("second"));
		expect(outbox.gone.reason).toEqual(new Error("first"));
	});

	it("writes a long line in pieces, between earlier and later writes", async () => {
		const { outbox, writes, texts } = createSubject();
		outbox.send("a");
		outbox.send({
			length: 4,
			*[Symbol.iterator]() {
				yield* ["lo", "ng"];
			},
		});
		outbox.send("b");
		outbox.send("c");
		expect(outbox.queued()).toBe(11);
		for (let index = 0; index < 5; index += 1) {
			await settled();
			expect(writes).toHaveLength(index + 1);
			writes[index]?.done();
		}
		expect(texts()).toEqual(["a\n", "lo", "ng", "\n", "b\nc\n"]);
		expect(outbox.queued()).toBe(0);
	});

	it("yields to other work while a reader consumes much output", { timeout: 30_000 }, async () => {
		const line = toLineText({ text: '"\n'.repeat(2_000_000) });
		const pause = await shortestPause(async () => {
			// As a pipe does whose other end reads.
			const outbox = new Outbox((_, done) => process.nextTick(done), 10);
			for (let count = 0; count < 20; count += 1) outbox.send(line);
			await outbox.flush();
		});
		expect(pause).toBeLessThan(longestPause);
	});
});
