// What another program changes in a session that is open here stays, however the session ends here.
import { appendFile, readFile, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventAt } from "../../../../test/contracts/store-contract.ts";
import { createStoreDirectory, type StoreDirectory } from "../../../../test/support/store/store-directory.ts";
import type { StoredSession } from "../session-store.ts";

const id = "11111111-2222-4333-8444-555555555555";
const row = (text: string) =>
	({ type: "message", message: { role: "user", content: [{ type: "text", text }] } }) as const;

describe.each(["closed", "killed"])("what another program changed in a session that was then %s", (end) => {
	let place: StoreDirectory;
	beforeEach(async () => {
		place = await createStoreDirectory();
	});
	afterEach(() => place.cleanUp());

	const open = () => place.openStore().openOrCreate(place.workDir, id);
	const turn = async (session: StoredSession, text: string) => {
		const started = eventAt({ type: "turn.started", input: text });
		await session.commit({ events: [started], context: { kind: "append", rows: [row(text)] } }, { sync: true });
		await session.commit({ events: [eventAt({ type: "turn.ended", outcome: { status: "finished" } })] });
	};
	const fileOf = (session: StoredSession, name: string) => path.join(session.directory ?? "", name);
	/** After some turns of one opening, and as if a while later. */
	const changed = async (name: string, change: (content: string) => string) => {
		await turn(await open(), "first");
		const session = await open();
		for (let n = 0; n < 6; n += 1) await turn(session, `turn ${n} ${"x".repeat(500)}`);
		const file = fileOf(session, name);
		await writeFile(file, change(await readFile(file, "utf8")));
		const later = Date.now() / 1000 + 5;
		await utimes(file, later, later);
		return session;
	};

	it("stays when it compacted the context", async () => {
		const summary = `${JSON.stringify({ role: "user", content: `a summary ${"y".repeat(1500)}` })}\n`;
		const session = await changed("context.jsonl", () => summary);
		if (end === "closed") await session.close();
		const again = await open();
		expect(again.contextRows).toEqual([row(`a summary ${"y".repeat(1500)}`)]);
		await again.close();
	});

	it("stays when it took turns back", async () => {
		const session = await changed("context.jsonl", (content) => `${content.split("\n").slice(0, 3).join("\n")}\n`);
		if (end === "closed") await session.close();
		const again = await open();
		expect(again.contextRows).toHaveLength(3);
		await again.close();
	});

	it("stays when it gave the session another title, and turns ran since", async () => {
		const session = await open();
		await turn(session, "first");
		await session.commit({ state: { customTitle: "ours" } }, { sync: true });
		for (let n = 0; n < 2; n += 1) await turn(session, "more");
		const file = fileOf(session, "state.json");
		const state: object = JSON.parse(await readFile(file, "utf8"));
		const journal = fileOf(session, "journal.jsonl");
		await utimes(journal, 1, 1);
		await writeFile(file, JSON.stringify({ ...state, custom_title: "theirs" }));
		await utimes(file, 2, 2);
		await turn(session, "last");
		if (end === "closed") {
			const theirs = { timestamp: 5, message: { type: "TurnBegin", payload: { user_input: "theirs" } } };
			await appendFile(fileOf(session, "wire.jsonl"), `${JSON.stringify(theirs)}\n`);
			await session.close();
		}
		const again = await open();
		expect(again.state().customTitle).toBe("theirs");
		await again.close();
	});
});
