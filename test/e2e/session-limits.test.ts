// How much there may be at once of many sessions, and that a session which was unloaded is none the worse for it.
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createStage, type Stage, toolCall } from "../support/executable/executable.ts";
import { isResponse, lastOf, type Server, type ServerLine } from "../support/executable/running-server.ts";
import { answerTo, createSession, eventOf, request } from "../support/meerkat/meerkat-client.ts";

function serve(stage: Stage, limits: object): Server {
	return stage.serve("rpc", "--config", JSON.stringify({ ...JSON.parse(stage.configText), agentwire: { limits } }));
}

/** Its turns wait for the client to approve of their command. */
const asking = [toolCall("call-1", "Shell", { command: "touch made" }), "text: done"];
const withShell = { enable_builtins: true, enable_shell: true };

async function end(server: Server): Promise<void> {
	server.endInput();
	await server.readAll();
	expect(await server.exited).toBe(0);
}

describe("limits", () => {
	const place = async (limits: object) => {
		const server = serve(createStage({ scripts: asking }), limits);
		await request(server, "hello", "initialize", { requests: ["approval/request"] });
		const ids = [await createSession(server, withShell, "a"), await createSession(server, withShell, "b")];
		/** Starts a turn and waits until it waits. */
		const start = async (n: 0 | 1): Promise<ServerLine> => {
			server.request(`turn-${n}`, "turn/start", { session_id: ids[n], prompt: "go" });
			return lastOf(await server.readUntil((line) => JSON.stringify(line.method) === '"approval/request"'));
		};
		const approve = async (interaction: ServerLine, n: 0 | 1): Promise<ServerLine> => {
			server.answer(interaction.id ?? "", { decision: "approve" });
			return lastOf(await server.readUntil((line) => isResponse(line, `turn-${n}`)));
		};
		return { server, ids, start, approve };
	};

	it("refuse a session when all that may be loaded are in use", async () => {
		const { server, start, approve } = await place({ loaded_sessions: 2 });
		const interactions = [await start(0), await start(1)] as const;
		const refusal = {
			code: -32603,
			message: "Max sessions reached (2/2)",
			data: { code: "OVERLOADED", limit: 2 },
		};
		expect((await answerTo(server, "c", "session/create", { prompt: "c" })).error).toEqual(refusal);
		expect((await answerTo(server, "list", "session/list")).result?.["sessions"]).toHaveLength(2);
		expect((await approve(interactions[0], 0)).result).toMatchObject({ text: "done" });
		await createSession(server, {}, "again");
		expect((await answerTo(server, "all", "session/list")).result?.["sessions"]).toHaveLength(3);
		expect((await approve(interactions[1], 1)).result).toMatchObject({ text: "done" });
		await end(server);
	});

	it("refuse a turn when as many run as may", async () => {
		const { server, ids, start, approve } = await place({ running_turns: 1 });
		const interaction = await start(0);
		expect((await answerTo(server, "more", "turn/start", { session_id: ids[1], prompt: "go" })).error).toEqual({
			code: -32603,
			message: "Too many turns run at once (1); start it when one has ended.",
			data: { session_id: ids[1], limit: 1, code: "OVERLOADED" },
		});
		await approve(interaction, 0);
		await approve(await start(1), 1);
		await end(server);
	});

	it("refuse a request when as many are being handled as may, and still accept replies", async () => {
		const { server, start, approve } = await place({ requests_in_flight: 1 });
		const interaction = await start(0);
		expect((await answerTo(server, "list", "session/list")).error).toEqual({
			code: -32603,
			message: "Too many requests at once: at most 1 are handled at a time; wait for answers before sending more.",
			data: { limit: 1, code: "OVERLOADED" },
		});
		expect((await approve(interaction, 0)).result).toMatchObject({ text: "done" });
		expect((await answerTo(server, "list", "session/list")).result?.["sessions"]).toHaveLength(2);
		await end(server);
	});

	it("pause turns at the limit of queued bytes", async () => {
		const queuedAt = async (limit: number): Promise<number> => {
			const server = serve(createStage({ scripts: ["text: x\n".repeat(100_000)] }), { outbox_bytes: limit });
			const id = await createSession(server);
			server.request("long", "turn/start", { session_id: id, prompt: "go" });
			await server.readUntil((line) => eventOf(line)["type"] === "text_delta");
			server.pause();
			// Long enough for as much as any limit of this test allows.
			await wait(500);
			server.request("stop", "turn/interrupt", { session_id: id });
			const before = server.bytesRead;
			await wait(100);
			server.resume();
			const lines = await server.readUntil((line) => isResponse(line, "long"));
			expect(lastOf(lines).error).toMatchObject({ data: { code: "REQUEST_CANCELLED" } });
			await end(server);
			return server.bytesRead - before;
		};
		/** What the pipe holds, and one batch of events. */
		const others = 384 * 1024;
		expect(await queuedAt(4096)).toBeLessThan(4096 + others);
		const large = 4 * 1024 * 1024;
		const queued = await queuedAt(large);
		// Of the write under way, some may have been read before the pause.
		expect(queued).toBeGreaterThan(large - others);
		expect(queued).toBeLessThan(large + others);
	});
});

describe("a session that was unloaded", () => {
	it("is read, listed and continued as if it were loaded", async () => {
		const stage = createStage({ scripts: ['usage: {"input_other": 9, "output": 2}\ntext: one'] });
		const server = serve(stage, { unload_after: 0.02 });
		const leases = path.join(stage.shareDir, "leases");
		const isUnloaded = async () => {
			while (existsSync(leases) && readdirSync(leases).length > 0) await wait(5);
		};
		await request(server, "hello", "capabilities/get");
		const first = await request(server, "create", "session/create", { prompt: "one" });
		const id = String(lastOf(first).result?.["session_id"]);
		await isUnloaded();
		const [listed] = Object((await answerTo(server, "list", "session/list")).result?.["sessions"]);
		expect(listed).toMatchObject({ session_id: id, is_active: false });
		expect((await answerTo(server, "read", "session/read", { session_id: id })).result).toMatchObject({
			session_id: id,
			is_active: false,
		});
		const second = await request(server, "turn", "turn/start", { session_id: id, prompt: "two" });
		await isUnloaded();
		const third = await request(server, "more", "turn/start", { session_id: id, prompt: "three" });
		expect(lastOf(third).result).toMatchObject({ usage: { input_tokens: 27, output_tokens: 6, total_tokens: 33 } });
		const sequence = [first, second, third].flat().flatMap((line) => eventOf(line)["seq"] ?? []);
		expect(sequence).toEqual(sequence.map((_, index) => index + 1));
		expect(sequence.length).toBeGreaterThan(12);
		const interrupt = await answerTo(server, "stop", "turn/interrupt", { session_id: id });
		expect(interrupt.result).toEqual({ session_id: id, interrupted: true, result: "interrupted" });
		await isUnloaded();
		expect((await answerTo(server, "away", "session/archive", { session_id: id })).result).toEqual({ archived: true });
		expect((await answerTo(server, "gone", "session/read", { session_id: id })).error).toMatchObject({
			data: { code: "SESSION_NOT_FOUND" },
		});
		await end(server);
	});
});
