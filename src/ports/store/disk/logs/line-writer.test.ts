import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import {
	createMemoryLog,
	createStoreDirectory,
	type StoreDirectory,
} from "../../../../../test/support/store/store-directory.ts";
import { createDiskFiles } from "../../../files/disk-files.ts";
import { createLineFile } from "./line-writer.ts";

let place: StoreDirectory;
beforeEach(async () => {
	place = await createStoreDirectory();
});
afterEach(() => place.cleanUp());

const create = (file: string) =>
	createLineFile({
		files: createDiskFiles(),
		log: createMemoryLog(),
		path: file,
		knownSize: 0,
		prepare: async () => {},
		nameMade() {},
	});

it("takes the last append back, and none before the file was closed: what that had is not held for it", async () => {
	const file = path.join(place.root, "lines.jsonl");
	const lines = create(file);
	await lines.append(['{"n":1}']);
	await lines.append(['{"n":2}']);
	await lines.undo();
	expect(await readFile(file, "utf8")).toBe('{"n":1}\n');
	await lines.append(['{"n":3}']);
	await lines.close();
	await lines.undo();
	expect(await readFile(file, "utf8")).toBe('{"n":1}\n{"n":3}\n');
});
