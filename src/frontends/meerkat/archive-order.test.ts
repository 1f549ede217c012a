// The order of answers at an archive, and turns whose kernel is lost.
import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import { connectRemote, createSocketPair, type Remote } from "../../../test/support/host/remote-sessions.ts";
import { createGatedProvider } from "../../../test/support/models/gated-provider.ts";
import { createHostedServer } from "../../../test/support/sessions/hosted-server.ts";
import { createMemoryFiles } from "../../../test/support/store/memory-files.ts";
import type { SessionsApi } from "../../api/kernel.ts";
import { isRecord } from "../../base/json.ts";
import { createMemoryStore } from "../../ports/store/memory/memory-store.ts";

async function createServer(reach?: (sessions: SessionsApi) => Promise<SessionsApi>) {
	const provider = createGatedProvider(false);
	const gate = provider.gate("m");
	const { client } = await createHostedServer({
		files: createMemoryFiles(),
		store: createMemoryStore(),
		clock: createFakeClock(),
		fetch: provider.fetch,
		agentwire: {},
		...(reach === undefined ? {} : { reach }),
	});
	const answers = new Map<unknown, Record<string, unknown>>();
	void (async () => {
		for (let line = await client.read(); line !== null; line = await client.read()) {
			const message: unknown = JSON.parse(line);
			if (isRecord(message) && !("method" in message)) answers.set(message["id"], message);
		}
	})();
	const send = (...requests: readonly (readonly [id: string, method: string, params: object])[]) => {
		const lines = requests.map(([id, method, params]) => JSON.stringify({ jsonrpc: "2.0", id, method, params }));
		client.write(`${lines.join("\n")}\n`);
	};
	const answered = async (...ids: readonly string[]): Promise<readonly unknown[]> => {
		for (let n = 0; n < 2000 && !ids.every((id) => answers.has(id)); n += 1) await new Promise((r) => setTimeout(r, 1));
		return [...answers.keys()].slice(1);
	};
	send(["create", "session/create", { prompt: "", initial_turn: "deferred" }]);
	await answered("create");
	const result = answers.get("create")?.["result"];
	const session_id = isRecord(result) ? result["session_id"] : null;
	const startTurn = async (id: string) => {
		const before = gate.activity();
		send([id, "turn/start", { session_id, prompt: id }]);
		while (gate.activity() === before) await new Promise(setImmediate);
	};
	return { send, answered, answers, session_id, startTurn };
}

describe("an archive", () => {
	it("is answered, and so is a turn that was requested right after it", async () => {
		const { send, answered, session_id } = await createServer();
		send(["archive", "session/archive", { session_id }], ["turn", "turn/start", { session_id, prompt: "hi" }]);
		expect(await answered("archive", "turn")).toEqual(["archive", "turn"]);
	});

	it("is answered after the turn that it ended, whatever was refused meanwhile, wherever the kernel is", async () => {
		const { send, answered, session_id, startTurn } = await createServer(
			async (sessions) => (await connectRemote(sessions, createSocketPair)).sessions,
		);
		await startTurn("one");
		send(["two", "turn/start", { session_id, prompt: "busy" }]);
		await answered("two");
		send(["archive", "session/archive", { session_id }]);
		expect(await answered("archive", "one")).toEqual(["two", "one", "archive"]);
	});
});

it("answers a turn whose kernel was lost", async () => {
	let remote: Remote | null = null;
	const { answered, answers, startTurn } = await createServer(async (sessions) => {
		remote = await connectRemote(sessions, createSocketPair);
		return remote.sessions;
	});
	await startTurn("one");
	// The turn has begun here as well.
	await new Promise((resolve) => setTimeout(resolve, 100));
	(remote as Remote | null)?.cut();
	await answered("one");
	expect(answers.get("one")).toMatchObject({ error: {} });
});
