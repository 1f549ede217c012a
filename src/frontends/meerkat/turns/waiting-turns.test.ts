// Turns of the contract wait for those of other clients of the same process, in the order in which they came.
import { expect, it } from "vitest";
import { createFakeClock } from "../../../../test/support/host/campaign-clock.ts";
import { createGatedProvider } from "../../../../test/support/models/gated-provider.ts";
import { createHostedServer } from "../../../../test/support/sessions/hosted-server.ts";
import { createMemoryFiles } from "../../../../test/support/store/memory-files.ts";
import type { SessionsApi } from "../../../api/kernel.ts";
import { createDeferred } from "../../../base/deferred.ts";
import { isRecord } from "../../../base/json.ts";
import { createMemoryStore } from "../../../ports/store/memory/memory-store.ts";

/** A server, and its sessions for other clients. */
async function createServer(others: SessionsApi | null = null) {
	const provider = createGatedProvider(false);
	provider.gate("m");
	const reached = createDeferred<SessionsApi>();
	const { client } = await createHostedServer({
		files: createMemoryFiles(),
		store: createMemoryStore(),
		clock: createFakeClock(),
		fetch: provider.fetch,
		agentwire: {},
		reach: async (sessions) => {
			reached.resolve(others ?? sessions);
			return others ?? sessions;
		},
	});
	const send = (id: string, method: string, params: object): void => {
		client.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
	};
	/** Reads on until this comes. */
	const until = async (is: (message: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> => {
		for (let line = await client.read(); line !== null; line = await client.read()) {
			const message: unknown = JSON.parse(line);
			if (isRecord(message) && is(message)) return message;
		}
		throw new Error("the server ended");
	};
	const answer = (id: string) => until((message) => message["id"] === id);
	const runOf = (prompt: string) =>
		until((message) => {
			const text = JSON.stringify(message);
			return text.includes("run_started") && text.includes(`"${prompt}"`);
		});
	send("capabilities", "capabilities/get", {});
	await answer("capabilities");
	return { send, answer, runOf, sessions: await reached.promise };
}

const cancelled = { error: { data: { code: "REQUEST_CANCELLED" } } };

it("wait for the end of a turn of another client, and of another connection", async () => {
	const one = await createServer();
	one.send("create", "session/create", { prompt: "", initial_turn: "deferred" });
	const { result } = await one.answer("create");
	const session_id = isRecord(result) ? String(result["session_id"]) : "";
	const foreign = await one.sessions.acquire(session_id);
	await foreign.startTurn("foreign");
	one.send("first", "turn/start", { session_id, prompt: "first" });
	one.send("read", "session/read", { session_id });
	expect(await one.answer("read")).toMatchObject({ result: { is_active: true } });
	const two = await createServer(one.sessions);
	two.send("second", "turn/start", { session_id, prompt: "second" });
	await one.sessions.interrupt(session_id);
	await one.runOf("first");
	await one.sessions.interrupt(session_id);
	expect(await one.answer("first")).toMatchObject(cancelled);
	await two.runOf("second");
	await one.sessions.interrupt(session_id);
	expect(await two.answer("second")).toMatchObject(cancelled);
	foreign.release();
});
