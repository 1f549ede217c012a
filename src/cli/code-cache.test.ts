// Chunks from a cache directory that other builds, or an accident, have written to.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createCodeCache } from "./code-cache.ts";

function createPlace() {
	const root = mkdtempSync(path.join(tmpdir(), "agentwire-cache-"));
	onTestFinished(() => rmSync(root, { recursive: true, force: true }));
	const chunk = path.join(root, "main.cjs");
	const directory = path.join(root, "cache");
	return {
		directory,
		/** Loads a program of this text as a process would, through the cache, and fills the cache. */
		load(text: string): unknown {
			writeFileSync(chunk, text);
			const cache = createCodeCache(directory);
			const loaded = cache.require(chunk);
			cache.save();
			return loaded;
		},
		cacheFiles: () => readdirSync(directory).map((name) => path.join(directory, name)),
	};
}

/** As a file is after a power failure: its length is right, its last bytes never came. */
function zeroed(content: Buffer, bytes: number): Buffer {
	return Buffer.from(content).fill(0, content.length - bytes);
}

const program = (name: string) => `exports.name = function () { return "${name}"; }();`;

it("gives what the chunk exports, from the cache as without it", () => {
	const place = createPlace();
	expect(place.load(program("one"))).toEqual({ name: "one" });
	expect(place.cacheFiles()).toHaveLength(1);
	expect(place.load(program("one"))).toEqual({ name: "one" });
});

it("never runs the code of another build, even when that is as long", () => {
	const place = createPlace();
	place.load(program("one"));
	expect(place.load(program("two"))).toEqual({ name: "two" });
	expect(place.load(program("two"))).toEqual({ name: "two" });
});

it("compiles anew what the cache has lost", () => {
	const place = createPlace();
	place.load(program("one"));
	for (const file of place.cacheFiles()) {
		const content = readFileSync(file);
		for (const damaged of [Buffer.alloc(0), content.subarray(0, -20), zeroed(content, 100)]) {
			writeFileSync(file, damaged);
			expect(place.load(program("one"))).toEqual({ name: "one" });
			expect(readFileSync(file)).toHaveLength(content.length);
			expect(readFileSync(file).equals(damaged)).toBe(false);
		}
	}
});
