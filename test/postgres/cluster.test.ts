// Workers and gateways as programs, over a real PostgreSQL: sessions survive the process that ran them.
import { once } from "node:events";
import { existsSync, openSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { runTurn } from "../../examples/durable/run-turn.mjs";
import { type ClusterPrograms, createClusterPrograms } from "../support/postgres/cluster-programs.ts";
import type { PostgresPlace } from "../support/postgres/postgres-place.ts";

const url = inject("postgresUrl");

describe.skipIf(url === "")("a cluster of workers and gateways", { timeout: 60_000 }, () => {
	let programs: ClusterPrograms;
	let place: PostgresPlace;
	let home: string;
	beforeEach(async () => {
		programs = await createClusterPrograms(url);
		({ place, home } = programs);
	});
	afterEach(() => programs.cleanUp());

	const start = (...words: readonly string[]) => programs.start(words);
	const connect: ClusterPrograms["connect"] = (gateway) => programs.connect(gateway);
	const numbers = (events: readonly { readonly seq: number }[]) => events.map(({ seq }) => seq);
	const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

	it("serves one session through two gateways, and goes on when its worker is killed", async () => {
		const workers = [await start("worker"), await start("worker")];
		const [one, two] = await Promise.all([
			connect(await start("serve", "--port", "0")),
			connect(await start("serve", "--port", "0")),
		]);
		const { sessionId } = await one.call("sessions.create", { workDir: home });
		const seen = await one.stream(sessionId);
		const first = await runTurn(one.gateway, { sessionId, key: "k1", input: "text: hello" });
		expect(first).toMatchObject({ outcome: { status: "finished" }, text: "hello" });
		expect(await runTurn(two.gateway, { sessionId, key: "k1", input: "text: hello" })).toEqual(first);
		expect((await two.call("sessions.list")).sessions).toMatchObject([{ id: sessionId }]);
		// Whichever has it: the other one is asked when its lease has run out.
		const database = place.openDatabase();
		const [held] = await database.query(`select holder from ${database.schema}.session where id = $1`, [sessionId]);
		const holder = workers.find(({ ready }) => ready["worker"] === held?.["holder"]);
		holder?.child.kill("SIGKILL");
		const second = await runTurn(two.gateway, { sessionId, key: "k2", input: "text: again" });
		expect(second).toMatchObject({ outcome: { status: "finished" }, text: "again" });
		expect(await runTurn(one.gateway, { sessionId, key: "k1", input: "text: hello" })).toEqual(first);
		const { cursor } = await one.call("session.snapshot", { sessionId });
		await expect.poll(() => numbers(seen), { timeout: 20_000 }).toEqual(upTo(cursor.seq));
	});

	it("starts one turn for an idempotency key, whichever gateway it is sent to", async () => {
		await start("worker");
		const [one, two] = await Promise.all([
			connect(await start("serve", "--port", "0")),
			connect(await start("serve", "--port", "0")),
		]);
		const { sessionId } = await one.call("sessions.create", { workDir: home });
		const seen = await one.stream(sessionId);
		const key = { "idempotency-key": "order-4711" };
		const params = { sessionId, input: "text: once" };
		const first = await one.call("turn.start", params, key);
		await expect.poll(() => seen.filter(({ type }) => type === "turn.ended").length, { timeout: 20_000 }).toBe(1);
		expect(await two.call("turn.start", params, key)).toEqual(first);
		expect(await one.call("turn.start", params, key)).toEqual(first);
		await expect(two.call("turn.start", { ...params, input: "text: other" }, key)).rejects.toThrow("different request");
		// So does a prompt that waited at the one and is added again at the other.
		const later = { sessionId, input: "text: later" };
		const waited = { "idempotency-key": "order-4712" };
		const added = await one.call("queue.add", later, waited);
		await expect.poll(() => seen.filter(({ type }) => type === "turn.ended").length, { timeout: 20_000 }).toBe(2);
		expect(await two.call("queue.add", later, waited)).toEqual(added);
		const { cursor } = await two.call("session.snapshot", { sessionId });
		await expect.poll(() => numbers(seen), { timeout: 20_000 }).toEqual(upTo(cursor.seq));
		expect(seen.filter(({ type }) => type === "turn.started")).toHaveLength(2);
	});

	it("hands its sessions over when a worker ends", async () => {
		const worker = await start("worker");
		const { gateway, call, stream } = await connect(await start("serve", "--port", "0"));
		const { sessionId } = await call("sessions.create", { workDir: home });
		const seen = await stream(sessionId);
		await runTurn(gateway, { sessionId, key: "k1", input: "text: hello" });
		const next = await start("worker");
		worker.child.kill("SIGTERM");
		const [code] = await once(worker.child, "exit");
		expect(code).toBe(0);
		await runTurn(gateway, { sessionId, key: "k2", input: "text: again" });
		const database = place.openDatabase();
		const [held] = await database.query(`select holder, last_seq from ${database.schema}.session where id = $1`, [
			sessionId,
		]);
		expect(held?.["holder"]).toBe(next.ready["worker"]);
		await expect.poll(() => numbers(seen), { timeout: 20_000 }).toEqual(upTo(Number(held?.["last_seq"])));
	});

	it("writes nothing from a worker that was stopped for longer than its lease and goes on", async () => {
		const workers = [await start("worker"), await start("worker")];
		const { gateway, call } = await connect(await start("serve", "--port", "0"));
		const { sessionId } = await call("sessions.create", { workDir: home });
		await runTurn(gateway, { sessionId, key: "k1", input: "text: hello" });
		const database = place.openDatabase();
		const holderOf = async () => {
			const [row] = await database.query(`select holder, term from ${database.schema}.session where id = $1`, [
				sessionId,
			]);
			return { holder: row?.["holder"], term: Number(row?.["term"]) };
		};
		const before = await holderOf();
		const stopped = workers.find(({ ready }) => ready["worker"] === before.holder);
		stopped?.child.kill("SIGSTOP");
		const turn = await runTurn(gateway, { sessionId, key: "k2", input: "text: again" });
		expect(turn.text).toBe("again");
		const after = await holderOf();
		expect([after.holder === before.holder, after.term > before.term]).toEqual([false, true]);
		stopped?.child.kill("SIGCONT");
		const last = await runTurn(gateway, { sessionId, key: "k3", input: "text: third" });
		expect(last.text).toBe("third");
		// One writer at a time: the terms of the events never decrease, and the numbers have no gap.
		const rows = await database.query(
			`select seq, term from ${database.schema}.event where session_id = $1 order by seq`,
			[sessionId],
		);
		expect(rows.map(({ seq }) => Number(seq))).toEqual(upTo(rows.length));
		const terms = rows.map(({ term }) => Number(term));
		expect(terms).toEqual([...terms].sort((a, b) => a - b));
	});

	it("lets what needs an approval wait for a client, as a gateway alone does", async () => {
		const call = { id: "c", name: "Shell", arguments: JSON.stringify({ command: "touch made" }) };
		const scripts = [`tool_call: ${JSON.stringify(call)}`, "text: done"];
		await writeFile(path.join(home, "scripts.json"), JSON.stringify(scripts));
		await start("worker");
		const { call: request } = await connect(await start("serve", "--port", "0"));
		const { sessionId } = await request("sessions.create", { workDir: home, model: "scripted" });
		await request("turn.start", { sessionId, input: "make it" });
		// Nobody has a stream.
		const open = async () => (await request("session.snapshot", { sessionId })).openInteractions;
		await expect.poll(open, { timeout: 20_000 }).toHaveLength(1);
		const [event] = await open();
		expect(event?.interaction).toMatchObject({ kind: "approval" });
		expect(existsSync(path.join(home, "made"))).toBe(false);
		const answer = { kind: "approval", decision: "approve" };
		await request("interaction.respond", { sessionId, interactionId: event?.interaction.id, answer });
		await expect.poll(() => existsSync(path.join(home, "made")), { timeout: 20_000 }).toBe(true);
	});

	it("answers with the reason when no worker runs", async () => {
		const { call } = await connect(await start("serve", "--port", "0"));
		await expect(call("sessions.create", { workDir: home })).rejects.toThrow("No worker runs");
	});

	it.runIf(existsSync("/dev/full"))("ends a worker whose line nobody gets", async () => {
		const { code, stderr } = await programs.run(["worker", "--json"], {}, openSync("/dev/full", "w"));
		expect(code).toBe(1);
		expect(stderr).toMatch(/^Cannot write the server's address to stdout: ENOSPC: .*\n$/);
	});
});
