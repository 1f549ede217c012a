// Workers and gateways that are replaced while sessions are used, over a real PostgreSQL: by programs of the same version,
// and by those that speak another version of the protocol between gateways and workers.
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { runTurn } from "../../examples/durable/run-turn.mjs";
import { migrations } from "../../src/ports/store/postgres/migrations.ts";
import { remoteVersion } from "../../src/remote/remote-version.ts";
import {
	type ClusterPrograms,
	createClusterPrograms,
	type GatewayUse,
	type Program,
} from "../support/postgres/cluster-programs.ts";
import { buildOtherVersion, otherRemoteVersion } from "../support/postgres/other-version.ts";

const url = inject("postgresUrl");
const newestTables = Math.max(...migrations.map(({ number }) => number));

describe.skipIf(url === "")("replacing workers and gateways", { timeout: 90_000 }, () => {
	let other: string;
	let programs: ClusterPrograms;
	beforeAll(async () => {
		other = await buildOtherVersion();
	}, 60_000);
	beforeEach(async () => {
		programs = await createClusterPrograms(url);
	});
	afterEach(() => programs.cleanUp());

	const start = (...words: readonly string[]) => programs.start(words);
	const startOther = (...words: readonly string[]) => programs.start(words, {}, other);
	const gateway = ["serve", "--port", "0"];
	const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);
	const ended = (events: readonly { readonly type: string }[]) =>
		events.filter(({ type }) => type === "turn.ended").length;

	/** Ends it as an operator does. */
	const end = async ({ child }: Program) => {
		child.kill("SIGTERM");
		const [code] = await once(child, "exit");
		return code;
	};

	const holderOf = async (sessionId: string) => {
		const database = programs.place.openDatabase();
		const [row] = await database.query(`select holder from ${database.schema}.session where id = $1`, [sessionId]);
		return row?.["holder"];
	};

	/** The outcomes of all turns of a session as they are stored, whose events have no gap. */
	const outcomes = async (sessionId: string) => {
		const database = programs.place.openDatabase();
		const rows = await database.query(
			`select seq, body from ${database.schema}.event where session_id = $1 order by seq`,
			[sessionId],
		);
		expect(rows.map(({ seq }) => Number(seq))).toEqual(upTo(rows.length));
		return rows.map(({ body }) => String(body)).filter((body) => body.includes('"turn.ended"'));
	};

	/** A session whose turn runs until a file is made. */
	const startLongTurn = async ({ call }: GatewayUse) => {
		const command = "until [ -e go ]; do sleep 0.05; done";
		const shell = { id: "c", name: "Shell", arguments: JSON.stringify({ command }) };
		const scripts = [`tool_call: ${JSON.stringify(shell)}`, "text: long", "text: queued"];
		await writeFile(path.join(programs.home, "scripts.json"), JSON.stringify(scripts));
		const { sessionId } = await call("sessions.create", { workDir: programs.home, model: "scripted", mode: "yolo" });
		await call("turn.start", { sessionId, input: "wait" });
		return { sessionId, go: () => writeFile(path.join(programs.home, "go"), "") };
	};

	it("of the same version loses no turn, no prompt that waits and no event, and clients keep their streams", async () => {
		const first = await start("worker");
		const use = await programs.connect(await start(...gateway));
		const { sessionId: idle } = await use.call("sessions.create", { workDir: programs.home });
		const ofIdle = await use.stream(idle);
		await runTurn(use.gateway, { sessionId: idle, key: "k1", input: "text: one" });
		const { sessionId: busy, go } = await startLongTurn(use);
		const ofBusy = await use.stream(busy);
		await use.call("queue.add", { sessionId: busy, input: "next" });
		const second = await start("worker");
		const gone = end(first);
		// While the first one still runs a turn, the other session goes on at the second one.
		const turn = await runTurn(use.gateway, { sessionId: idle, key: "k2", input: "text: two" });
		expect(turn).toMatchObject({ outcome: { status: "finished" }, text: "two" });
		expect([await holderOf(idle), await holderOf(busy)]).toEqual([second.ready["worker"], first.ready["worker"]]);
		await go();
		expect(await gone).toBe(0);
		await expect.poll(() => ended(ofBusy), { timeout: 30_000 }).toBe(2);
		expect(await holderOf(busy)).toBe(second.ready["worker"]);
		for (const [sessionId, seen] of [
			[idle, ofIdle],
			[busy, ofBusy],
		] as const) {
			const { cursor } = await use.call("session.snapshot", { sessionId });
			await expect.poll(() => seen.map(({ seq }) => seq), { timeout: 20_000 }).toEqual(upTo(cursor.seq));
			const stored = await outcomes(sessionId);
			expect(stored).toHaveLength(2);
			for (const record of stored) expect(record).toContain('"finished"');
		}
	});

	it("of another version, forth and back, keeps sessions and says of each what stands in the way", async () => {
		const oldWorker = await start("worker");
		const oldGateway = await start(...gateway);
		const old = await programs.connect(oldGateway);
		const { sessionId: idle } = await old.call("sessions.create", { workDir: programs.home });
		await runTurn(old.gateway, { sessionId: idle, key: "k1", input: "text: one" });
		const { sessionId: busy, go } = await startLongTurn(old);
		await old.call("queue.add", { sessionId: busy, input: "next" });

		// New workers next to the old ones: the old gateway goes on, and names those that it cannot use.
		const newWorker = await startOther("worker");
		const workers = ({ list }: GatewayUse) => list("workers.list");
		expect(await workers(old)).toMatchObject([
			{ id: oldWorker.ready["worker"], remoteVersion },
			{
				id: newWorker.ready["worker"],
				remoteVersion: otherRemoteVersion,
				notUsable: expect.stringContaining(`speaks version ${otherRemoteVersion}`),
			},
		]);
		const loaded = async ({ list }: GatewayUse) => (await list("sessions.loaded")).map(({ id }) => id);
		expect((await loaded(old)).sort()).toEqual([idle, busy].sort());
		for (let count = 0; count < 5; count += 1) {
			const { sessionId } = await old.call("sessions.create", { workDir: programs.home });
			expect(await holderOf(sessionId)).toBe(oldWorker.ready["worker"]);
		}

		// Then the gateway. Sessions that the old worker has cannot be used yet.
		const fresh = await programs.connect(await startOther(...gateway));
		const reason = expect.stringMatching(
			new RegExp(`The worker ${oldWorker.ready["worker"]} speaks version ${remoteVersion} .* SIGTERM`),
		);
		expect((await workers(fresh))[0]).toMatchObject({ notUsable: reason });
		expect(await loaded(fresh)).toEqual([]);
		const { sessions: listed } = await fresh.call("sessions.list");
		expect(listed).toContainEqual(expect.objectContaining({ id: idle, notRunnable: reason }));
		await expect(fresh.call("turn.start", { sessionId: idle, input: "text: no" })).rejects.toThrow("SIGTERM");
		const { sessionId: made } = await fresh.call("sessions.create", { workDir: programs.home });
		expect(await holderOf(made)).toBe(newWorker.ready["worker"]);
		expect(await end(oldGateway)).toBe(0);

		// Then the old workers: what nobody uses is free at once, a running turn comes to its end.
		const gone = end(oldWorker);
		await expect.poll(async () => (await workers(fresh))[0]?.["isEnding"], { timeout: 10_000 }).toBe(true);
		const turn = await runTurn(fresh.gateway, { sessionId: idle, key: "k2", input: "text: two" });
		expect(turn).toMatchObject({ outcome: { status: "finished" }, text: "two" });
		expect(await holderOf(idle)).toBe(newWorker.ready["worker"]);
		// Whoever wants the busy one waits for it.
		const snapshot = fresh.call("session.snapshot", { sessionId: busy });
		await go();
		expect(await gone).toBe(0);
		await snapshot;
		expect(await holderOf(busy)).toBe(newWorker.ready["worker"]);
		// The prompt that waits went with the disk of the gateway, and is sent when a turn has ended there.
		const ofBusy = await fresh.stream(busy);
		expect(await fresh.call("queue.list", { sessionId: busy })).toMatchObject({ prompts: [{ input: "next" }] });
		await runTurn(fresh.gateway, { sessionId: busy, key: "k2", input: "go on" });
		await expect.poll(() => ended(ofBusy), { timeout: 30_000 }).toBe(3);

		// And back, in the same order.
		await start("worker");
		const again = await programs.connect(await start(...gateway));
		expect(await end(newWorker)).toBe(0);
		for (const [sessionId, turns] of [
			[idle, 3],
			[busy, 4],
		] as const) {
			const last = await runTurn(again.gateway, { sessionId, key: "k3", input: "text: three" });
			expect(last).toMatchObject({ outcome: { status: "finished" } });
			const stored = await outcomes(sessionId);
			expect(stored).toHaveLength(turns);
			for (const record of stored) expect(record).toContain('"finished"');
		}
	});

	it("with a migration leaves those that run alone, and starts no program that is too old for the tables", async () => {
		await start("worker");
		const { gateway: running, call } = await programs.connect(await start(...gateway));
		const { sessionId } = await call("sessions.create", { workDir: programs.home });
		const database = programs.place.openDatabase();
		await database.query(`insert into ${database.schema}.schema_version (version) values (1000)`);
		const turn = await runTurn(running, { sessionId, key: "k1", input: "text: still" });
		expect(turn).toMatchObject({ outcome: { status: "finished" }, text: "still" });
		const reason = `The tables in the database ${database.name} have version 1000, and this program knows ${newestTables}: install a newer agentwire.`;
		await expect(start("worker")).rejects.toThrow(`: The worker could not start: ${reason}\n`);
		for (const words of [gateway, ["web", "--port", "0", "--no-open"]]) {
			await expect(start(...words)).rejects.toThrow(`: The gateway could not start: ${reason}\n`);
		}
	});

	it("before the migration starts none either, and says what is to be run", async () => {
		await programs.run(["store", "migrate"]);
		const database = programs.place.openDatabase();
		await database.query(`delete from ${database.schema}.schema_version where version = $1`, [newestTables]);
		const reason = `have version ${newestTables - 1}, and this program needs ${newestTables}: run agentwire store migrate.`;
		await expect(start("worker")).rejects.toThrow(reason);
		await expect(start(...gateway)).rejects.toThrow(reason);
	});

	it("starts a gateway also while its database does not answer, which is not ready then", async () => {
		const nowhere = { AGENTWIRE_STORE_URL: "postgresql://agentwire@127.0.0.1:1/agentwire" };
		const { ready } = await programs.start([...gateway], nowhere);
		expect((await fetch(`${String(ready["url"])}/readyz`)).status).toBe(503);
	});
});
