// What every line transport does, whatever carries its bytes. The subject is held from its far end.
import { afterEach, beforeEach, describe, expect, it } from "vitest";

/** The far end of a transport whose server echoes every line it gets (`oversized` for one too long). */
export interface TransportSubject {
	/** Bytes after which a line is too long. */
	readonly lineLimit: number;
	write(bytes: string | Buffer): void;
	/** Ends the server's input. */
	end(): void;
	/** The next line of the server's; null once it closed. */
	read(): Promise<string | null>;
	/** Stops and starts taking what the server sends. */
	pause(): void;
	resume(): void;
	/** Makes the server send lines of 1 KiB, numbered from 0, with backpressure after each. */
	flood(count: number): void;
	/** How many of them it has sent, queried outside of the transport. */
	flooded(): Promise<number>;
	cleanUp(): Promise<void>;
}

export function describeTransportContract(name: string, createSubject: () => Promise<TransportSubject>): void {
	describe(`the ${name} transport`, () => {
		let subject: TransportSubject;
		beforeEach(async () => {
			subject = await createSubject();
		});
		afterEach(() => subject.cleanUp());

		it("carries lines both ways in order, however the bytes are cut", async () => {
			const bytes = Buffer.from("one\ntwo ü €\nthree\n");
			for (const byte of bytes) subject.write(Buffer.from([byte]));
			expect([await subject.read(), await subject.read(), await subject.read()]).toEqual(["one", "two ü €", "three"]);
		});

		it("carries many lines of one write", async () => {
			subject.write(`${Array.from({ length: 500 }, (_, n) => `line ${n}`).join("\n")}\n`);
			for (let n = 0; n < 500; n += 1) expect(await subject.read()).toBe(`line ${n}`);
		});

		it("reports a line over the limit once and goes on", async () => {
			subject.write(`${"x".repeat(subject.lineLimit + 1)}\nnext\n`);
			expect([await subject.read(), await subject.read()]).toEqual(["oversized", "next"]);
		});

		it("accepts a last line without newline, ends, and still delivers the answers", async () => {
			subject.write("one\nlast");
			subject.end();
			expect([await subject.read(), await subject.read(), await subject.read()]).toEqual(["one", "last", null]);
		});

		it("makes the producer wait while nobody reads, and loses nothing", async () => {
			subject.pause();
			subject.flood(4000);
			const stuck = await stableValue(() => subject.flooded());
			expect(stuck).toBeLessThan(4000);
			subject.resume();
			for (let n = 0; n < 4000; n += 1) expect((await subject.read())?.startsWith(`${n} `)).toBe(true);
			expect(await subject.flooded()).toBe(4000);
		});
	});
}

/** The value once it was the same in several readings in a row. */
async function stableValue(read: () => Promise<number>): Promise<number> {
	let same = 0;
	let last = -1;
	while (same < 5) {
		const value = await read();
		same = value === last ? same + 1 : 0;
		last = value;
		await new Promise((resolve) => setTimeout(resolve, 10));
	}
	return last;
}
