// Copies of sessions between the disk and the database.
import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { eventAt, promptRow, readAll } from "../../../../test/contracts/store-contract.ts";
import { createPostgresPlace, type PostgresPlace } from "../../../../test/support/postgres/postgres-place.ts";
import { createStoreDirectory, type StoreDirectory } from "../../../../test/support/store/store-directory.ts";
import type { EventBody } from "../../../api/values/event.ts";
import { compareSessions, copySession } from "../session-copy.ts";
import type { SessionStore, StoredSession } from "../session-store.ts";
import { newRuntime } from "../stored-tasks.ts";

const url = inject("postgresUrl");
const id = "11111111-2222-4333-8444-555555555555";
const subagent = { parentToolCallId: "c1", agentId: "a1", subagentType: "coder" };

async function fill(store: SessionStore, workDir: string): Promise<StoredSession> {
	const session = await store.openOrCreate(workDir, id);
	const turn: EventBody[] = [
		{ type: "turn.started", input: "Do \0 it." },
		{ type: "step.started", n: 1 },
		{ type: "tool.started", toolCallId: "c1", name: "Shell", arguments: "{}", has_effect: true },
	];
	await session.commit({ events: turn.map((body) => eventAt(body)), context: { kind: "append", rows: [promptRow] } });
	await session.commit({ events: [eventAt({ type: "step.started", n: 1 }, 1, [subagent])] });
	await session.commit({
		events: [eventAt({ type: "content.completed", part: { type: "text", text: "I \ud800 said" } })],
		state: { planMode: true, customTitle: "A \0 title", todos: [{ title: "a \0 b", status: "done" }] },
	});
	const agent = await session.createAgent({
		id: "a1",
		type: "coder",
		description: "d",
		createdAt: 1,
		modelOverride: null,
		effectiveModel: null,
	});
	await agent.begin("Go");
	await agent.changeContext({ kind: "append", rows: [promptRow] });
	const task = await session.tasks.create({
		id: "agent-1",
		kind: "agent",
		sessionId: id,
		description: "d",
		toolCallId: "c1",
		createdAt: 1000,
		timeout: null,
		command: null,
		agent: { agentId: "a1", subagentType: "coder", prompt: "Go", modelOverride: null },
	});
	await task.appendOutput("done\n");
	await task.setRuntime({ ...newRuntime, status: "completed", exitCode: 0 });
	return session;
}

describe.skipIf(url === "")("a copy of a session", () => {
	let place: PostgresPlace;
	let directory: StoreDirectory;
	beforeEach(async () => {
		[place, directory] = [await createPostgresPlace(url), await createStoreDirectory()];
	});
	afterEach(async () => {
		await Promise.all([place.cleanUp(), directory.cleanUp()]);
	});

	it.each(["from disk to database", "from database to disk"])(
		"%s is the same, with what was interrupted",
		async (way) => {
			const stores = [directory.openStore(), place.openStore()];
			const [from, to] = way === "from disk to database" ? stores : stores.reverse();
			if (from === undefined || to === undefined) throw new Error("no store");
			await (await fill(from, place.workDir)).close();
			const source = await from.open(place.workDir, id);
			if (source === null) throw new Error("no session");
			expect(await copySession(source, to)).toBe(5);
			const copy = await to.open(place.workDir, id);
			if (copy === null) throw new Error("no copy");
			expect(await compareSessions(source, copy)).toEqual([]);
			expect(copy.summary.unretained.map(({ body }) => body)).toEqual(
				source.summary.unretained.map(({ body }) => body),
			);
			expect(copy.summary.unfinishedCalls).toHaveLength(1);
			expect((await copy.openAgent("a1"))?.contextRows).toEqual([promptRow]);
			const task = await copy.tasks.find("agent-1");
			expect([await task?.runtime(), (await task?.outputTail(99))?.bytes.toString()]).toEqual([
				expect.objectContaining({ status: "completed", exitCode: 0 }),
				"done\n",
			]);
			await expect(copySession(source, to)).rejects.toMatchObject({ code: "busy" });
		},
	);

	it("is found to differ when it does", async () => {
		await fill(place.openStore(), place.workDir);
		const session = await place.openStore().view(place.workDir, id);
		if (session === null) throw new Error("no view");
		const store = directory.openStore();
		await copySession(session, store);
		const copy = await store.openOrCreate(place.workDir, id);
		await copy.commit({ events: [eventAt({ type: "step.started", n: 9 })], state: { planMode: false } });
		const again = await directory.openStore().openOrCreate(place.workDir, id);
		expect(await compareSessions(session, again)).toEqual([
			"One has fewer events: it ends before number 6.",
			"The state differs.",
		]);
	});

	it("can be made of a view, without taking the session over", async () => {
		const session = await fill(place.openStore(), place.workDir);
		const view = await place.openStore().view(place.workDir, id);
		if (view === null) throw new Error("no view");
		await copySession(view, directory.openStore());
		expect(await readAll(view)).toHaveLength(5);
		await session.commit({ events: [eventAt({ type: "step.started", n: 2 })] });
		expect(await readFile(path.join(directory.shareDir, "kimi.json"), "utf8")).toContain(place.workDir);
	});
});
