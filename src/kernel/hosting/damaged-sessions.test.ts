import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createHost, runTurn } from "../../../test/support/sessions/session-host.ts";
import { createStoreDirectory, type StoreDirectory } from "../../../test/support/store/store-directory.ts";
import { plainRequest } from "./hosted-options.ts";

let place: StoreDirectory;
beforeEach(async () => {
	place = await createStoreDirectory();
});
afterEach(() => place.cleanUp());

it("gives clients what can be read of a session whose last event cannot, and what comes after that", async () => {
	const { host: earlier } = await createHost({}, { store: place.openStore() });
	const made = await earlier.create(plainRequest);
	const { id } = made.session;
	await runTurn(made);
	made.release();
	await earlier.unload(id);
	const sessions = path.join(place.shareDir, "sessions");
	const journal = path.join(sessions, (await readdir(sessions))[0] ?? "", id, "journal.jsonl");
	const lines = (await readFile(journal, "utf8")).split("\n");
	const last = lines.findLastIndex((line) => line.startsWith('{"seq":'));
	await writeFile(journal, lines.with(last, "damaged").join("\n"));

	const { host } = await createHost({}, { store: place.openStore() });
	const handle = await host.acquire(id);
	const { epoch } = (await handle.session.snapshot()).cursor;
	const { events } = await handle.session.attach({
		client: null,
		tools: [],
		capabilities: [],
		hooks: null,
		after: { epoch, seq: 0 },
	});
	const seen: string[] = [];
	const reading = (async () => {
		for await (const batch of events) seen.push(...batch.map(({ body }) => body.type));
	})();
	await expect.poll(() => seen).toContain("turn.started");
	await runTurn(handle);
	await host.stop();
	await reading;
	expect(seen.filter((type) => type === "turn.started")).toHaveLength(2);
	expect(seen.filter((type) => type === "turn.ended")).toHaveLength(1);
});
