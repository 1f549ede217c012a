// What a client that reads slowly is told of runs that follow each other at once.
import { expect, it } from "vitest";
import { createFakeClock } from "../../../test/support/campaign-clock.ts";
import { createGatedProvider } from "../../../test/support/gated-provider.ts";
import { createHostedServer } from "../../../test/support/hosted-server.ts";
import { createMemoryFiles } from "../../../test/support/memory-files.ts";
import { isRecord } from "../../base/json.ts";
import { createMemoryStore } from "../../store/memory-store.ts";

it("answers each run with its own result, also when the next has ended before the answer is told", async () => {
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
