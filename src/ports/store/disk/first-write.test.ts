// The first write of a session, whose beginning has several parts: each of them may fail.
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { promptRow } from "../../../../test/contracts/store-contract.ts";
import { createFailingFiles } from "../../../../test/support/store/failing-files.ts";
import { createStoreDirectory, type StoreDirectory } from "../../../../test/support/store/store-directory.ts";
import { createDiskFiles } from "../../files/disk-files.ts";

const id = "11111111-2222-4333-8444-555555555555";

describe("a first write whose beginning fails midway", () => {
	let place: StoreDirectory;
	beforeEach(async () => {
		place = await createStoreDirectory();
	});
	afterEach(() => place.cleanUp());

	it.each(["", "of the old layout "])(
		"is done again with a session %sonce the index can be written",
		async (layout) => {
			const store = place.openStore();
			const parent = path.dirname(String((await store.openOrCreate(place.workDir, id)).directory));
			if (layout !== "") {
				await mkdir(parent, { recursive: true });
				await writeFile(path.join(parent, `${id}.jsonl`), '{"role": "_usage", "token_count": 3}\n{"role": "_us');
			}
			const failing = createFailingFiles(createDiskFiles(), {
				at: ({ kind, path: target }) => kind === "replace" && path.basename(target) === "kimi.json",
				mishap: { kind: "fail", code: "ENOSPC", once: true },
			});
			const session = await place.openStore({ files: failing.files }).openOrCreate(place.workDir, id);
			const commit = () => session.commit({ context: { kind: "append", rows: [promptRow] } });
			await expect(commit()).rejects.toMatchObject({ code: "storage-failed" });
			await commit();
			await session.close();
			const again = await place.openStore().openOrCreate(place.workDir, id);
			const rows = layout === "" ? [] : [{ type: "usage", tokenCount: 3 }];
			expect(again.contextRows).toEqual([...rows, promptRow]);
			await again.close();
		},
	);
});
