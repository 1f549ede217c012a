// The responses to runs that follow each other at once, and to runs that could not be persisted.
import { expect, it } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import { connectRemote, createSocketPair, offerSession } from "../../../test/support/host/remote-sessions.ts";
import { createGatedProvider } from "../../../test/support/models/gated-provider.ts";
import { createModelGate, createScriptedModel, done, say } from "../../../test/support/models/scripted-model.ts";
import { createHostedServer, type HostedServerOptions } from "../../../test/support/sessions/hosted-server.ts";
import { createSessionSubject } from "../../../test/support/sessions/session-subject.ts";
import { storageFailure } from "../../../test/support/store/failing-session.ts";
import { createMemoryFiles } from "../../../test/support/store/memory-files.ts";
import type { EventType } from "../../api/values/event.ts";
import { createDeferred } from "../../base/deferred.ts";
import { isRecord } from "../../base/json.ts";
import { silentLog } from "../../base/log.ts";
import type { Peer } from "../../ports/rpc/connection.ts";
import { createMemoryStore } from "../../ports/store/memory/memory-store.ts";
import type { SessionStore, StoredSession } from "../../ports/store/session-store.ts";
import { createContractCodec } from "./eras/contract.ts";
import { type ClientSide, HostedSession } from "./hosted-session.ts";
import { newFacts } from "./projection/facts.ts";

it("answers each run with its own result, also when the next run ended before the answer is sent", async () => {
	const provider = createGatedProvider(false);
	const gate = provider.gate("m");
	const { client, serving, close } = await createHostedServer({
		files: createMemoryFiles(),
		store: createMemoryStore(),
		clock: createFakeClock(),
		fetch: provider.fetch,
		agentwire: {},
		outboxLimit: 100,
	});
	const send = (message: object) => client.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
	const results = new Map<unknown, unknown>();
	const read = async (id: string): Promise<void> => {
		while (!results.has(id)) {
			const message: unknown = JSON.parse((await client.read()) ?? "null");
			if (isRecord(message) && !("method" in message)) results.set(message["id"], message["result"]);
		}
	};
	send({ id: "create", method: "session/create", params: { prompt: "", initial_turn: "deferred" } });
	await read("create");
	const made = results.get("create");
	const id = isRecord(made) ? made["session_id"] : null;
	const startRun = async (name: string): Promise<void> => {
		const before = gate.activity();
		send({ id: name, method: "turn/start", params: { session_id: id, prompt: name } });
		while (gate.activity() === before) await new Promise(setImmediate);
		gate.push([
			{ kind: "say", text: name },
			{ kind: "done", counted: true },
		]);
		for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
	};
	client.pause();
	await startRun("one");
	await startRun("two");
	client.resume();
	await read("one");
	await read("two");
	expect(results.get("one")).toMatchObject({ text: "one", usage: { input_tokens: 10, output_tokens: 5 } });
	expect(results.get("two")).toMatchObject({ text: "two", usage: { input_tokens: 20, output_tokens: 10 } });
	client.end();
	await serving.finish();
	await close();
});

/** A store in memory that keeps no event of this type, and makes nothing that is to be there later, as long as it is full. */
function createFullStore(type: EventType): { readonly store: SessionStore; isFull: boolean } {
	const store = createMemoryStore();
	const watch = (stored: StoredSession): StoredSession => ({
		...stored,
		async commit(batch, options) {
			if (full.isFull && batch.events?.some(({ body }) => body.type === type)) throw storageFailure;
			return await stored.commit(batch, options);
		},
		async establish() {
			if (full.isFull) throw storageFailure;
			await stored.establish();
		},
	});
	const full = {
		isFull: false,
		store: {
			...store,
			openOrCreate: async (workDir: string, id: string) => watch(await store.openOrCreate(workDir, id)),
		},
	};
	return full;
}

/** A server whose client waits for each answer. */
async function createServer(options: Pick<HostedServerOptions, "store" | "hooks" | "processes">) {
	const provider = createGatedProvider(true);
	const { client, serving, close } = await createHostedServer({
		files: createMemoryFiles(),
		clock: createFakeClock(),
		fetch: provider.fetch,
		agentwire: {},
		...options,
	});
	const ask = async (method: string, params: object): Promise<Record<string, unknown>> => {
		client.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })}\n`);
		while (true) {
			const message: unknown = JSON.parse((await client.read()) ?? "null");
			if (isRecord(message) && !("method" in message)) return message;
		}
	};
	const end = async () => {
		client.end();
		await serving.finish();
		await close();
	};
	return { ask, end, provider };
}

const ran = { outputBytes: 0, truncated: false, spilledTo: null, output: "" };

it.each<{ readonly blocks: readonly boolean[]; readonly what: string }>([
	{ blocks: [true, false, false], what: "the run before was refused by a hook" },
	{ blocks: [true, true, false], what: "it was refused by a hook as well" },
])("answers a run that could not be started with the reason when $what", async ({ blocks }) => {
	const full = createFullStore("turn.started");
	const verdicts = [...blocks];
	const { ask, end } = await createServer({
		store: full.store,
		hooks: [{ event: "UserPromptSubmit", command: "check" }],
		processes: {
			run: async () => ({
				...ran,
				ended: { kind: "exited", exitCode: verdicts.shift() === true ? 2 : 0 },
				errorOutput: "no",
			}),
			endAll: async () => {},
		},
	});
	const { result } = await ask("session/create", { prompt: "", initial_turn: "deferred" });
	const session_id = isRecord(result) ? result["session_id"] : null;
	const turn = (prompt: string) => ask("turn/start", { session_id, prompt });
	const denied = { error: { data: { code: "HOOK_DENIED" } } };
	expect(await turn("one")).toMatchObject(denied);
	full.isFull = true;
	expect(await turn("two")).toMatchObject({ error: { data: { code: "INTERNAL_ERROR" } } });
	full.isFull = false;
	expect(await turn("three")).toHaveProperty("result");
	await end();
});

it("lets nobody wait for the end of a run that is hidden for good", async () => {
	const gate = createModelGate();
	const { session } = await createSessionSubject(createScriptedModel([[gate, say("late"), done()]]));
	const { sessions, cut } = await connectRemote(offerSession(session), createSocketPair);
	const handle = await sessions.acquire(session.id);
	const begun = createDeferred<string>();
	const peer: Peer = {
		notify(_method, params) {
			const [, runId] = /"run_started".*"run_id":"([^"]+)"/.exec(JSON.stringify(params)) ?? [];
			if (runId !== undefined) begun.resolve(runId);
		},
		notifyLine() {},
		call() {},
		callUnanswered() {},
		isWaiting: () => false,
		withdraw() {},
		ready: async () => {},
		isFull: () => false,
	};
	const client: ClientSide = {
		codec: () => createContractCodec(null),
		answers: () => new Set(),
		tools: () => [],
		eventId: () => "e",
		now: () => 0,
		streams: { has: () => false, take: () => [] },
	};
	const remembered = { facts: newFacts(0), cursor: null, sequence: 0 };
	const hosted = await HostedSession.attach(handle, { log: silentLog }, peer, client, remembered);
	const { ended } = await hosted.start(handle, {
		prompt: "hi",
		withEvents: true,
		options: {},
		preface: [],
		isOfEvents: false,
	});
	const runId = await begun.promise;
	const stopped = hosted.runEnded(runId);
	expect(stopped).not.toBeNull();
	cut();
	await expect(ended).rejects.toThrow();
	await stopped;
	gate.open();
	await session.stop();
});

it("does not list a session that could not be persisted as deferred", async () => {
	const full = createFullStore("turn.started");
	full.isFull = true;
	const { ask, end } = await createServer({ store: full.store });
	expect(await ask("session/create", { prompt: "", initial_turn: "deferred" })).toHaveProperty("error");
	expect(await ask("session/list", {})).toMatchObject({ result: { sessions: [] } });
	await end();
});

it("lets a client register 1,000 tools, and refuses more as a whole", async () => {
	const { client, serving, close } = await createHostedServer({
		files: createMemoryFiles(),
		store: createMemoryStore(),
		clock: createFakeClock(),
		fetch: createGatedProvider(false).fetch,
		agentwire: {},
	});
	const register = async (from: number, count: number): Promise<unknown> => {
		const tools = Array.from({ length: count }, (_, n) => ({ name: `T${from + n}` }));
		client.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/register", params: { tools } })}\n`);
		return JSON.parse((await client.read()) ?? "null");
	};
	expect(await register(0, 999)).toMatchObject({ result: { registered: 999 } });
	expect(await register(999, 2)).toMatchObject({
		error: { code: -32602, message: "A client can register at most 1000 tools; these would make 1001." },
	});
	expect(await register(999, 1)).toMatchObject({ result: { registered: 1 } });
	// Again, under the same names.
	expect(await register(0, 1000)).toMatchObject({ result: { registered: 1000 } });
	client.end();
	await serving.finish();
	await close();
});
