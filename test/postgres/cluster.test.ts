// Workers and gateways as programs, over a real PostgreSQL: sessions survive the process that ran them.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import * as v from "valibot";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { runTurn } from "../../examples/durable/run-turn.mjs";
import { createPostgresPlace, type PostgresPlace } from "../support/postgres/postgres-place.ts";

const url = inject("postgresUrl");
const executable = path.resolve("bin/agentwire");

/** A model that answers at once, and one whose answers take a while. */
const settings = (schema: string) => `
default_model = "quick"
[store]
type = "postgres"
schema = "${schema}"
[providers.p]
type = "_echo"
base_url = ""
api_key = ""
[models.quick]
provider = "p"
model = "echo"
max_context_size = 100000
[agentwire]
contain = "off"
`;

const answerSchema = v.object({
	/** The members that the tests look at. */
	result: v.optional(
		v.looseObject({
			sessionId: v.optional(v.string(), ""),
			sessions: v.optional(v.array(v.unknown()), () => []),
			cursor: v.optional(v.object({ epoch: v.string(), seq: v.number() }), { epoch: "", seq: 0 }),
		}),
		{},
	),
	error: v.optional(v.object({ message: v.string() })),
});

interface Program {
	readonly child: ChildProcess;
	/** The line that it printed when it was ready. */
	readonly ready: Record<string, unknown>;
}

describe.skipIf(url === "")("a cluster of workers and gateways", { timeout: 60_000 }, () => {
	let place: PostgresPlace;
	let home: string;
	const running: ChildProcess[] = [];

	beforeEach(async () => {
		place = await createPostgresPlace(url);
		home = await mkdtemp(path.join(tmpdir(), "agentwire-cluster-"));
		await writeFile(path.join(home, "config.toml"), settings(place.schema));
	});
	afterEach(async () => {
		for (const child of running.splice(0)) {
			child.kill("SIGCONT");
			child.kill("SIGKILL");
			if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
		}
		await place.cleanUp();
		await rm(home, { recursive: true, force: true });
	});

	async function start(...words: readonly string[]): Promise<Program> {
		const environment = { ...process.env, KIMI_SHARE_DIR: home, AGENTWIRE_STORE_URL: url };
		const child = spawn(process.execPath, [executable, ...words, "--json", "--work-dir", home], { env: environment });
		running.push(child);
		let complaint = "";
		child.stderr?.on("data", (chunk) => {
			complaint += String(chunk);
		});
		for await (const line of createInterface({ input: child.stdout })) return { child, ready: JSON.parse(line) };
		throw new Error(`It did not start: ${complaint}`);
	}

	async function connect({ ready }: Program) {
		const { tokens } = JSON.parse(await readFile(path.join(home, "gateway.json"), "utf8"));
		const { token } = tokens.find(({ scope }: { scope: string }) => scope === "control");
		const gateway = { url: String(ready["url"]), token: String(token) };
		const call = async (method: string, params: object = {}) => {
			const response = await fetch(`${gateway.url}/rpc`, {
				method: "POST",
				headers: { authorization: `Bearer ${gateway.token}`, "content-type": "application/json" },
				body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
			});
			const { result, error } = v.parse(answerSchema, await response.json());
			if (error !== undefined) throw new Error(error.message);
			return result;
		};
		/** The durable events of a stream, as they come. */
		const stream = async (sessionId: string) => {
			// From the beginning, however late it attaches.
			const { cursor } = await call("session.snapshot", { sessionId });
			const response = await fetch(`${gateway.url}/events?sessions=${sessionId}@${cursor.epoch}:0`, {
				headers: { authorization: `Bearer ${gateway.token}` },
			});
			const events: { readonly seq: number; readonly type: string }[] = [];
			void (async () => {
				let text = "";
				for await (const chunk of response.body ?? []) {
					text += Buffer.from(chunk).toString("utf8");
					const messages = text.split("\n\n");
					text = messages.pop() ?? "";
					for (const message of messages) {
						const data = /^event: e\ndata: (.*)$/m.exec(message)?.[1];
						if (data !== undefined) events.push(JSON.parse(data));
					}
				}
			})().catch(() => {});
			return events;
		};
		return { gateway, call, stream };
	}

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

	it("answers with the reason when no worker runs", async () => {
		const { call } = await connect(await start("serve", "--port", "0"));
		await expect(call("sessions.create", { workDir: home })).rejects.toThrow("No worker runs");
	});
});
