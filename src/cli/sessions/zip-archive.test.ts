import { unzipSync } from "fflate";
import { describe, expect, it } from "vitest";
import { type ArchiveEntry, zipPieces } from "./zip-archive.ts";

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
	for (const item of items) yield item;
}

const entry = (name: string, ...texts: readonly string[]): ArchiveEntry => ({
	name,
	modifiedAt: Date.UTC(2026, 0, 1),
	pieces: each(texts.map((text) => Buffer.from(text))),
});

async function zipped(...entries: readonly ArchiveEntry[]): Promise<Uint8Array> {
	const pieces: Uint8Array[] = [];
	for await (const piece of zipPieces(each(entries))) pieces.push(piece);
	return Buffer.concat(pieces);
}

const texts = (archive: Uint8Array) =>
	Object.entries(unzipSync(archive)).map(([name, bytes]) => [name, Buffer.from(bytes).toString()]);

describe("zipPieces", () => {
	it("archives files in pieces, empty ones and names of all kinds included", async () => {
		const archive = await zipped(entry("a/ü.txt", "one", "", "two"), entry("empty"), entry("b", "x".repeat(300_000)));
		expect(texts(archive)).toEqual([
			["a/ü.txt", "onetwo"],
			["empty", ""],
			["b", "x".repeat(300_000)],
		]);
		expect(archive.length).toBeLessThan(3000);
	});

	it("writes an empty archive", async () => {
		expect(texts(await zipped())).toEqual([]);
	});

	it.each([0, -1, Date.UTC(3000, 0, 1), 1_700_000_000_000.5])("handles the time %d", async (modifiedAt) => {
		expect(texts(await zipped({ ...entry("a", "x"), modifiedAt }))).toEqual([["a", "x"]]);
	});

	it("reads a piece only after the earlier ones were consumed", async () => {
		let read = 0;
		async function* noise() {
			let state = 1;
			for (; read < 100; read += 1) {
				// Bytes that do not compress, so that each piece gives some.
				yield Uint8Array.from({ length: 65_536 }, () => {
					state = (Math.imul(state, 1_103_515_245) + 12_345) | 0;
					return state >> 16;
				});
			}
		}
		let length = 0;
		let mostHeld = 0;
		for await (const piece of zipPieces(each([{ ...entry("noise"), pieces: noise() }]))) {
			length += piece.length;
			mostHeld = Math.max(mostHeld, read * 65_536 - length);
		}
		expect(length).toBeGreaterThan(6_000_000);
		expect(mostHeld).toBeLessThan(500_000);
	});

	it("fails when a file cannot be read", async () => {
		async function* failing() {
			yield Buffer.from("x");
			throw new Error("EIO");
		}
		await expect(zipped({ ...entry("a"), pieces: failing() })).rejects.toThrow("EIO");
	});
});
