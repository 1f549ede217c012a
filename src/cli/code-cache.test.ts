import { readdirSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createCodeCache } from "./code-cache.ts";

let root: string;
let cacheDirectory: string;
let main: string;
beforeEach(async () => {
	root = await mkdtemp(path.join(tmpdir(), "cache-"));
	cacheDirectory = path.join(root, "cache", "v1");
	main = path.join(root, "main.cjs");
	await writeFile(
		main,
		'const part = require("./part.cjs");\nexports.value = part.value + require("node:path").sep;\n',
	);
	await writeFile(
		path.join(root, "part.cjs"),
		'const main = require("./main.cjs");\nexports.value = "part" + typeof main;\n',
	);
});
afterEach(() => rm(root, { recursive: true, force: true }));

const load = () => {
	const cache = createCodeCache(cacheDirectory);
	const exports = cache.require(main);
	return { cache, exports };
};

const cachedNames = async () => (await readdir(cacheDirectory)).sort();

const cachedMain = async () => path.join(cacheDirectory, (await cachedNames())[0] ?? "");

describe("createCodeCache", () => {
	it("loads chunks and their parts once each, and writes the cache only on save", async () => {
		const { cache, exports } = load();
		expect(exports).toEqual({ value: `partobject${path.sep}` });
		expect(cache.require(main)).toBe(exports);
		expect(await readdir(root)).not.toContain("cache");
		cache.save();
		expect(await cachedNames()).toEqual([
			expect.stringMatching(/^main\.cjs\.[0-9a-f]+\.bin$/),
			expect.stringMatching(/^part\.cjs\.[0-9a-f]+\.bin$/),
		]);
	});

	it("saves what there is time for, and the rest after the next start", () => {
		let time = 0;
		const slow = () => {
			const cache = createCodeCache(cacheDirectory, () => {
				time += 1000;
				return time;
			});
			cache.require(main);
			cache.save();
		};
		slow();
		expect(readdirSync(cacheDirectory)).toHaveLength(1);
		slow();
		expect(readdirSync(cacheDirectory)).toHaveLength(2);
	});

	it("loads from the cache and leaves it unchanged", async () => {
		load().cache.save();
		const before = await readFile(await cachedMain());
		const { cache, exports } = load();
		cache.save();
		expect(exports).toEqual({ value: `partobject${path.sep}` });
		expect(await readFile(await cachedMain())).toEqual(before);
	});

	it("saves more of a chunk when a process came further, and never less", async () => {
		await writeFile(
			main,
			'exports.later = () => { const part = require("./part.cjs"); return [1, 2].map((n) => part.value + n); };\n',
		);
		load().cache.save();
		const file = await cachedMain();
		const before = await readFile(file);
		const further = load();
		expect(further.exports).toEqual({ later: expect.any(Function) });
		(further.exports as { later(): unknown }).later();
		further.cache.save();
		const after = await readFile(file);
		expect(after.length).toBeGreaterThan(before.length);
		// Nothing was compiled that is not there.
		load().cache.save();
		expect(await readFile(file)).toEqual(after);
	});

	it("never runs the code of another source, even one of equal length", async () => {
		load().cache.save();
		await writeFile(
			path.join(root, "part.cjs"),
			'const main = require("./main.cjs");\nexports.value = "trap" + typeof main;\n',
		);
		const { cache, exports } = load();
		expect(exports).toEqual({ value: `trapobject${path.sep}` });
		cache.save();
		expect(load().exports).toEqual({ value: `trapobject${path.sep}` });
	});

	it.each([
		["empty", () => Buffer.alloc(0)],
		["truncated", (content: Buffer) => content.subarray(0, content.length - 100)],
		["without code", (content: Buffer) => content.subarray(0, 90)],
	])("loads the source when the cache file is %s", async (_name, damage) => {
		load().cache.save();
		const cached = await cachedMain();
		await writeFile(cached, damage(await readFile(cached)));
		expect(load().exports).toEqual({ value: `partobject${path.sep}` });
	});

	it("caches two sources of the same name separately", async () => {
		load().cache.save();
		await writeFile(main, 'exports.value = "other – not ASCII";\n');
		const { cache, exports } = load();
		expect(exports).toEqual({ value: "other \u2013 not ASCII" });
		cache.save();
		expect((await cachedNames()).filter((name) => name.startsWith("main"))).toHaveLength(2);
		expect(load().exports).toEqual({ value: "other \u2013 not ASCII" });
	});

	it("loads the source when the cache directory cannot be written", async () => {
		await writeFile(path.join(root, "cache"), "in the way");
		const { cache, exports } = load();
		expect(exports).toEqual({ value: `partobject${path.sep}` });
		cache.save();
	});

	it("rethrows the error of a chunk, and reports a missing chunk", async () => {
		await writeFile(main, 'throw new Error("at load");\n');
		expect(load).toThrow("at load");
		await rm(main);
		expect(load).toThrow(/Start it again\. \(ENOENT/);
	});

	it("loads a chunk again after a failed attempt", async () => {
		const part = path.join(root, "part.cjs");
		const cache = createCodeCache(cacheDirectory);
		await rm(part);
		expect(() => cache.require(main)).toThrow("ENOENT");
		await writeFile(part, 'exports.value = "late";\n');
		expect(cache.require(main)).toEqual({ value: `late${path.sep}` });
	});
});
