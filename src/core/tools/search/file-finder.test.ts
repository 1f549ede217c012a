import { mkdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createToolPlace, type ToolPlace } from "../../../../test/support/host/tool-environment.ts";
import { FileFinder, foundLimit } from "./file-finder.ts";

let place: ToolPlace;
beforeEach(async () => {
	place = await createToolPlace();
});
afterEach(() => place.remove());

async function touch(...names: readonly string[]): Promise<void> {
	for (const name of names) {
		const file = place.at("work", name);
		await mkdir(path.dirname(file), { recursive: true });
		await writeFile(file, "");
	}
}

const find = async (query: string, more: object = {}) =>
	(await new FileFinder({ ...place.environment, ...more }).find(query)).paths;

/** As on a machine without ripgrep. */
const withoutRipgrep = { findRipgrep: async () => "/nowhere/rg" };

describe.each([
	["with ripgrep", {}],
	["without ripgrep", withoutRipgrep],
])("FileFinder %s", (_, more) => {
	it("finds by names first, then by paths, then by letters in their order", async () => {
		await touch("src/basket.ts", "basket/deep/list.ts", "docs/a-basket.md", "b/a/s/k/e/t", "other.ts");
		expect(await find("basket", more)).toEqual([
			...["basket/", "src/basket.ts", "basket/deep/", "basket/deep/list.ts", "docs/a-basket.md"],
			...["b/a/s/k/e/t"],
		]);
		expect((await find("BASKET.TS", more))[0]).toBe("src/basket.ts");
		expect(await find("nothing like it", more)).toEqual([]);
	});

	it("offers what is near for an empty query", async () => {
		await touch("a.txt", "src/deep/b.txt");
		expect(await find("", more)).toEqual(["a.txt", "src/", "src/deep/", "src/deep/b.txt"]);
	});

	it("never names what no model may read, nor what lies elsewhere", async () => {
		await touch(".env", "keys/id_rsa", "keys/public.txt");
		await writeFile(place.at("outside", "public.txt"), "");
		await symlink(place.at("outside"), place.at("work", "link"));
		expect(await find("env", more)).toEqual([]);
		expect(await find("id_rsa", more)).toEqual([]);
		expect(await find("public", more)).toEqual(["keys/public.txt"]);
	});

	it("gives a bounded number, and says that there are more", async () => {
		await touch(...Array.from({ length: foundLimit + 1 }, (_, index) => `f${index}`));
		const { paths, isPartial } = await new FileFinder({ ...place.environment, ...more }).find("f");
		expect(paths).toHaveLength(foundLimit);
		expect(isPartial).toBe(true);
		const rest = await new FileFinder({ ...place.environment, ...more }).find("f50");
		expect(rest).toEqual({ paths: ["f50"], isPartial: false });
	});
});

describe("FileFinder", () => {
	it("leaves out what version control ignores", async () => {
		await touch(".git/HEAD", "kept.txt", "built/kept.txt");
		await writeFile(place.at("work", ".gitignore"), "built/\n");
		expect(await find("kept")).toEqual(["kept.txt"]);
		expect(await find("HEAD")).toEqual([]);
	});

	it("lists the files once for what is typed within some seconds", async () => {
		let [time, runs] = [0, 0];
		const finder = new FileFinder({
			...place.environment,
			clock: { ...place.environment.clock, monotonic: () => time },
			processes: {
				...place.environment.processes,
				run: (request, signal) => {
					runs += 1;
					return place.environment.processes.run(request, signal);
				},
			},
		});
		await touch("one");
		expect((await finder.find("o")).paths).toEqual(["one"]);
		await touch("other");
		expect((await finder.find("o")).paths).toEqual(["one"]);
		expect(runs).toBe(1);
		time = 6000;
		expect((await finder.find("o")).paths).toEqual(["one", "other"]);
	});
});
