// Two processes that create the session of the same id at the same moment: each finds nothing there.
import { mkdir, readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventAt, readAll } from "../../../../test/contracts/store-contract.ts";
import { createStoreDirectory, type StoreDirectory } from "../../../../test/support/store/store-directory.ts";
import type { StoredSession } from "../session-store.ts";

const id = "11111111-2222-4333-8444-555555555555";

describe("a session that two processes create at the same moment", () => {
	let place: StoreDirectory;
	beforeEach(async () => {
		place = await createStoreDirectory();
	});
	afterEach(() => place.cleanUp());

	const open = () => place.openStore().openOrCreate(place.workDir, id);
	const turn = (session: StoredSession, input: string) =>
		session.commit(
			{
				events: [eventAt({ type: "turn.started", input })],
				context: { kind: "append", rows: [{ type: "usage", tokenCount: input.length }] },
				state: { customTitle: input },
			},
			{ sync: true },
		);
	const inputs = async (session: StoredSession) =>
		(await readAll(session)).map(({ body }) => (body.type === "turn.started" ? body.input : body.type));
	const content = async (session: StoredSession) => {
		const directory = String(session.directory);
		const names = (await readdir(directory)).toSorted();
		return await Promise.all(names.map((name) => readFile(path.join(directory, name), "utf8")));
	};
	const failure = {
		code: "storage-failed",
		message: expect.stringContaining("another process has created the session"),
	};

	it("keeps what one has stored and left before the other one writes, which learns so", async () => {
		const late = await open();
		const early = await open();
		await turn(early, "early");
		await early.close();
		const before = await content(early);
		await expect(turn(late, "late")).rejects.toMatchObject(failure);
		expect(await late.lost).toMatchObject(failure);
		await expect(late.commit({ state: { planMode: true } })).rejects.toMatchObject(failure);
		// It waits for nobody, and the late one goes on from there.
		const again = await open();
		await late.close();
		expect(await content(early)).toEqual(before);
		expect(await inputs(again)).toEqual(["early"]);
		await turn(again, "later");
		await again.close();
		expect(await inputs(await open())).toEqual(["early", "later"]);
	});

	it("stays with the one that has it while it is written", async () => {
		const late = await open();
		const early = await open();
		await turn(early, "early");
		await expect(turn(late, "late")).rejects.toMatchObject(failure);
		expect(await late.lost).toMatchObject(failure);
		await late.close();
		await turn(early, "next");
		await early.close();
		expect(await inputs(await open())).toEqual(["early", "next"]);
	});

	it("belongs to the one that stores something first, when both begin together", async () => {
		const sessions = await Promise.all([open(), open()]);
		const stored = await Promise.allSettled(sessions.map((session, index) => turn(session, `turn ${index}`)));
		expect(stored.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
		await Promise.all(sessions.map((session) => session.close()));
		const winner = stored.findIndex(({ status }) => status === "fulfilled");
		expect(await inputs(await open())).toEqual([`turn ${winner}`]);
	});

	it("is written in a directory that another process only made", async () => {
		const session = await open();
		await mkdir(String(session.directory), { recursive: true });
		await turn(session, "mine");
		await session.close();
		expect(await inputs(await open())).toEqual(["mine"]);
	});

	it("leaves the subagents of the one that has it running", async () => {
		const late = await open();
		const early = await open();
		await turn(early, "early");
		const description = { id: "a0d984db6", type: "coder", description: "d", modelOverride: null, effectiveModel: null };
		const agent = await early.createAgent({ ...description, createdAt: 1_700_000_000_000 });
		await agent.begin("Count the lines");
		await agent.setStatus("running_background");
		const meta = path.join(String(early.directory), "subagents", description.id, "meta.json");
		const before = await readFile(meta, "utf8");
		expect(before).toContain("running_background");
		await early.close();
		await expect(turn(late, "late")).rejects.toMatchObject(failure);
		await late.close();
		expect(await readFile(meta, "utf8")).toBe(before);
	});
});
