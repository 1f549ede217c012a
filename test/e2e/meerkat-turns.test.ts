// Turns of Meerkat RPC that cross each other, with a model that says what the test lets it say.
import { describe, expect, it } from "vitest";
import { createStage, toolCall } from "../support/executable/executable.ts";
import { isResponse, lastOf, type Server, type ServerLine } from "../support/executable/running-server.ts";
import {
	answer,
	ask,
	create,
	createDeferred,
	delivered,
	end,
	eventsOf,
	isEvent,
	serve,
	typesOf,
} from "../support/meerkat/meerkat-lines.ts";
import { createHeldStage } from "../support/models/held-provider.ts";

const line = (id: string | number | null, method: string, params: object = {}) =>
	`${JSON.stringify({ jsonrpc: "2.0", ...(id === null ? {} : { id }), method, params })}\n`;
const readTo = (server: Server, ...ids: readonly string[]) => {
	const left = new Set(ids);
	return server.readUntil((each) => {
		if (each.method === undefined && typeof each.id === "string") left.delete(each.id);
		return left.size === 0;
	});
};
const indexOf = (lines: readonly ServerLine[], id: string) => lines.findIndex((each) => isResponse(each, id));
const cancelled = (session_id: string) => ({
	code: -32603,
	message: "Run was cancelled",
	data: { code: "REQUEST_CANCELLED", session_id },
});

describe("an interrupt", () => {
	it("in mid-stream is answered at once, also twice, and ends the run and the request to the model", async () => {
		const { stage, nextRequest } = await createHeldStage();
		const server = serve(stage);
		const session_id = await createDeferred(server);
		server.request("turn", "turn/start", { session_id, prompt: "tell" });
		const request = await nextRequest();
		await request.say("Once upon");
		const before = await server.readUntil(isEvent("text_delta"));
		server.write(line("one", "turn/interrupt", { session_id }) + line("two", "turn/interrupt", { session_id }));
		const lines = await readTo(server, "one", "two", "turn");
		await request.closed;
		expect(lines[0]).toEqual({ jsonrpc: "2.0", id: "one", result: { interrupted: true } });
		expect(lines.find(({ id }) => id === "two")?.result).toEqual({ interrupted: true });
		expect(lines.find(({ id }) => id === "turn")?.error).toEqual(cancelled(session_id));
		expect(typesOf([...before, ...lines])).toEqual(["run_started", "turn_started", "text_delta", "run_failed"]);
		expect(lines.findIndex(isEvent("run_failed"))).toBeLessThan(indexOf(lines, "turn"));

		server.request("next", "turn/start", { session_id, prompt: "go on" });
		const next = await nextRequest();
		for (const text of ["tell", "go on"]) expect(JSON.stringify(next.messages)).toContain(text);
		await next.say("a time.");
		next.end();
		expect((await server.response("next")).result).toMatchObject({ text: "a time." });
		await end(server);
	});

	it("without an id is no request: the run goes on", async () => {
		const { stage, nextRequest } = await createHeldStage();
		const server = serve(stage);
		const session_id = await createDeferred(server);
		server.request("turn", "turn/start", { session_id, prompt: "tell" });
		const request = await nextRequest();
		server.write(line(null, "turn/interrupt", { session_id }) + line(null, "session/archive", { session_id }));
		expect((await answer(server, "read", "session/read", { session_id })).result).toMatchObject({ state: "running" });
		await request.say("All.");
		request.end();
		expect((await server.response("turn")).result).toMatchObject({ text: "All." });
		await end(server);
	});

	it("reaches its session while the client does not read, and nothing of another session is lost", async () => {
		const { stage, nextRequest } = await createHeldStage();
		const server = serve(stage);
		const long = await createDeferred(server, {}, "1");
		const other = await createDeferred(server, {}, "2");
		server.request("long", "turn/start", { session_id: long, prompt: "long" });
		const endless = await nextRequest();
		await endless.say("begun");
		await server.readUntil(isEvent("text_delta"));
		server.pause();
		let isOver = false;
		const over = endless.closed.then(() => {
			isOver = true;
		});
		const piece = "x".repeat(1000);
		let said = 0;
		const talking = (async () => {
			while (!isOver) {
				await endless.say(piece);
				said += 1;
			}
		})();
		server.request("other", "turn/start", { session_id: other, prompt: "short" });
		const short = await nextRequest();
		for (const word of ["a", "b", "c"]) await short.say(word);
		short.end();
		// More than pipe, sockets and outbox hold together is not needed: the interrupt is read meanwhile in any case.
		server.request("interrupt", "turn/interrupt", { session_id: long });
		await over;
		await talking;
		server.resume();
		const lines = await readTo(server, "interrupt", "long", "other");
		expect(lines.find(({ id }) => id === "long")?.error).toEqual(cancelled(long));
		expect(lines.find(({ id }) => id === "other")?.result).toMatchObject({ text: "abc", session_id: other });
		const ofLong = eventsOf(lines.filter((each) => delivered(each)?.session_id === long));
		const deltas = ofLong.flatMap(({ type, delta }) => (type === "text_delta" ? [String(delta)] : []));
		expect(deltas.join("").length).toBeLessThanOrEqual(said * piece.length);
		expect(ofLong.at(-1)).toMatchObject({ type: "run_failed" });
		expect(typesOf(lines.filter((each) => delivered(each)?.session_id === other))).toEqual([
			"run_started",
			"turn_started",
			"text_delta",
			"text_delta",
			"text_delta",
			"text_complete",
			"turn_completed",
			"run_completed",
		]);
		await end(server);
	});
});

describe("turns", () => {
	it("sent back to back on one session: one runs, the other is refused and never run", async () => {
		const { stage, nextRequest } = await createHeldStage();
		const server = serve(stage);
		const session_id = await createDeferred(server);
		server.write(
			line("a", "turn/start", { session_id, prompt: "first" }) +
				line("b", "turn/start", { session_id, prompt: "second" }),
		);
		const refused = await server.response("b");
		expect(refused.error).toEqual({
			code: -32001,
			message: `Session ${session_id} is busy`,
			data: { code: "SESSION_BUSY", session_id },
		});
		const request = await nextRequest();
		expect(JSON.stringify(request.messages)).not.toContain("second");
		await request.say("First.");
		request.end();
		const rest = await server.readUntil((each) => isResponse(each, "a"));
		expect(lastOf(rest).result).toMatchObject({ text: "First." });
		expect(await end(server)).toEqual([]);
	});

	it("of several sessions run at once, each with its events in order and before its response", async () => {
		const { stage, nextRequest } = await createHeldStage();
		const server = serve(stage);
		const ids = ["a", "b", "c"];
		server.write(ids.map((id) => line(id, "session/create", { prompt: id })).join(""));
		const requests = [await nextRequest(), await nextRequest(), await nextRequest()];
		// The last one asked ends first.
		for (const request of requests.reverse()) {
			const prompt = String(request.messages.at(-1)?.content);
			await request.say(`Of ${prompt}.`);
			request.end();
		}
		const lines = await readTo(server, ...ids);
		for (const id of ids) {
			const at = indexOf(lines, id);
			const { result } = lines[at] ?? {};
			expect(result).toMatchObject({ text: expect.stringContaining("Of "), turns: 1 });
			const own = lines.filter((each) => delivered(each)?.session_id === result?.["session_id"]);
			expect(own.every((each) => lines.indexOf(each) < at)).toBe(true);
			expect(typesOf(own)).toEqual([
				"run_started",
				"turn_started",
				"text_delta",
				"text_complete",
				"turn_completed",
				"run_completed",
			]);
		}
		await end(server);
	});

	it("are cancelled, with all their events, when the input ends in mid-stream", async () => {
		const { stage, nextRequest } = await createHeldStage();
		const server = serve(stage);
		server.request("create", "session/create", { prompt: "tell" });
		const request = await nextRequest();
		await request.say("Once");
		const [started] = eventsOf(await server.readUntil(isEvent("text_delta")));
		const rest = await end(server);
		await request.closed;
		expect(typesOf(rest)).toEqual(["run_failed"]);
		expect(lastOf([...rest]).error).toEqual(cancelled(String(started?.["session_id"])));
	});

	it("go on while a request of another session comes in byte by byte", async () => {
		const { stage, nextRequest } = await createHeldStage();
		const server = serve(stage);
		const session_id = await createDeferred(server);
		server.request("turn", "turn/start", { session_id, prompt: "tell" });
		const request = await nextRequest();
		const bytes = Buffer.from(line("list", "session/list"));
		for (const byte of bytes.subarray(0, -1)) {
			server.write(Buffer.of(byte));
			await request.say("x");
			expect(typesOf(await server.readUntil(isEvent("text_delta"))).at(-1)).toBe("text_delta");
		}
		server.write(bytes.subarray(-1));
		expect((await server.response("list")).result).toEqual({ sessions: [{ session_id, state: "running" }] });
		request.end();
		expect((await server.response("turn")).result).toMatchObject({ text: "x".repeat(bytes.length - 1) });
		await end(server);
	});

	it("are all answered when the input ends after the requests", async () => {
		const server = serve(createStage({ scripts: ["text: done"] }));
		server.write(line("1", "initialize") + line("2", "session/list") + line("3", "config/get"));
		const lines = await end(server);
		expect(lines.map(({ id }) => id)).toEqual(["1", "2", "3"]);
		expect(lines.every(({ result }) => result !== undefined)).toBe(true);
	});
});

describe("requests to the client", () => {
	it("go out for tools that were registered right before the session was made", async () => {
		const server = serve(createStage({ scripts: [toolCall("a", "paint", { n: 1 }), "text: done"] }));
		const tools = [{ name: "paint", description: "Paints.", input_schema: { type: "object" } }];
		server.write(line("tools", "tools/register", { tools }) + line("create", "session/create", { prompt: "go" }));
		const request = lastOf(await server.readUntil(({ method }) => String(method) === "tool/execute"));
		expect(request.params).toMatchObject({ tool_use_id: "a", name: "paint", arguments: { n: 1 } });
		server.answer(request.id ?? "", { content: "wet" });
		expect((await server.response("create")).result).toMatchObject({ text: "done" });
		await end(server);
	});

	it("come after the calls that they are about", async () => {
		const tools = [{ name: "paint", description: "Paints.", input_schema: { type: "object" } }];
		const calls = [toolCall("a", "paint", {}), toolCall("b", "paint", { n: 2 })].join("\n");
		const server = serve(createStage({ scripts: [calls, "text: done"] }));
		await answer(server, "init", "initialize", { tools });
		server.request("create", "session/create", { prompt: "go" });
		const order: unknown[] = [];
		let asked = 0;
		const lines = await server.readUntil((each) => {
			const isRequest = String(each.method) === "tool/execute";
			if (isRequest) asked += 1;
			order.push(isRequest ? "request" : delivered(each)?.event["type"]);
			return asked === 2;
		});
		expect(order.slice(0, 5)).toEqual([
			"run_started",
			"turn_started",
			"tool_call_requested",
			"tool_call_requested",
			"tool_execution_started",
		]);
		// The calls run concurrently: one may begin before the other is requested of the client.
		expect(order.slice(5).toSorted()).toEqual(["request", "request", "tool_execution_started"]);
		expect(order.at(-1)).toBe("request");
		for (const { id } of lines.filter(({ method }) => String(method) === "tool/execute")) {
			server.answer(id ?? "", { content: "wet" });
		}
		expect((await server.response("create")).result).toMatchObject({ text: "done", tool_calls: 2 });
		await end(server);
	});
});

describe("limits", () => {
	const waiting = toolCall("c", "paint", {});
	const tools = [{ name: "paint", description: "Paints.", input_schema: { type: "object" } }];
	const isInteraction = ({ method, id }: ServerLine) => String(method) === "tool/execute" && id !== undefined;

	it("refuse the 65th run at once, leave no session, and accept runs again", async () => {
		const stage = createStage({ scripts: [waiting, "text: done"] });
		const config = JSON.stringify({ ...JSON.parse(stage.configText), agentwire: { sync: "off" } });
		const server = serve(stage, "--config", config);
		await answer(server, "init", "initialize", { tools });
		for (let n = 0; n < 64; n += 1) server.request(`c${n}`, "session/create", { prompt: "wait" });
		const interactions: ServerLine[] = [];
		while (interactions.length < 64) interactions.push(lastOf(await server.readUntil(isInteraction)));
		const { error } = await answer(server, "65", "session/create", { prompt: "one too many" });
		expect(error).toMatchObject({ code: -32603, data: { code: "OVERLOADED", limit: 64 } });
		const { result } = await answer(server, "list", "session/list");
		expect(result?.["sessions"]).toHaveLength(64);
		expect(stage.sessionIds()).toHaveLength(64);

		const [first] = interactions;
		server.answer(first?.id ?? "", { content: "wet" });
		await server.readUntil((each) => String(each.id).startsWith("c") && each.result !== undefined);
		const more = await ask(server, "66", "session/create", { prompt: "again", initial_turn: "deferred" });
		expect(lastOf(more).result).toEqual({ session_id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
		await end(server);
	});

	it("refuse a session for which there is no place while all are in use", async () => {
		const stage = createStage({ scripts: [waiting, "text: done"] });
		const settings = JSON.parse(stage.configText);
		const config = JSON.stringify({ ...settings, agentwire: { limits: { loaded_sessions: 2 } } });
		const server = serve(stage, "--config", config);
		await answer(server, "init", "initialize", { tools });
		for (const id of ["a", "b"]) {
			server.request(id, "session/create", { prompt: "wait" });
			await server.readUntil(isInteraction);
		}
		expect((await answer(server, "c", "session/create", { prompt: "x" })).error).toEqual({
			code: -32603,
			message: "Max sessions reached (2/2)",
			data: { code: "OVERLOADED", limit: 2 },
		});
		expect((await answer(server, "list", "session/list")).result?.["sessions"]).toHaveLength(2);
		await end(server);
	});
});

describe("params", () => {
	it("of session/create that are wrong are named, and make no session", async () => {
		const stage = createStage();
		const server = serve(stage);
		const cases: readonly (readonly [object, string])[] = [
			[{}, "prompt"],
			[{ prompt: null }, "prompt"],
			[{ prompt: ["text"] }, "prompt"],
			[{ prompt: "x", max_tokens: 4_294_967_296 }, "max_tokens"],
			[{ prompt: "x", max_tokens: 1.5 }, "max_tokens"],
			[{ prompt: "x", enable_builtins: "yes" }, "enable_builtins"],
			[{ prompt: "x", initial_turn: "later" }, "initial_turn"],
		];
		for (const [params, named] of cases) {
			const { error } = await answer(server, "1", "session/create", params);
			expect([params, error]).toEqual([
				params,
				expect.objectContaining({ code: -32602, message: expect.stringContaining(named) }),
			]);
		}
		expect((await answer(server, "2", "session/list")).result).toEqual({ sessions: [] });
		await end(server);
		expect(stage.sessionIds()).toEqual([]);
	});

	it("of session/create that are null are as good as absent, and an empty prompt is one", async () => {
		const server = serve(createStage());
		const names = [
			"model",
			"provider",
			"max_tokens",
			"system_prompt",
			"enable_builtins",
			"enable_shell",
			"initial_turn",
		];
		const nulls = Object.fromEntries(names.map((name) => [name, null]));
		expect((await answer(server, "1", "session/create", { prompt: "", ...nulls })).result).toMatchObject({
			text: "done",
			turns: 1,
			tool_calls: 0,
		});
		await end(server);
	});

	it("that are one session's in another spelling are that session's", async () => {
		const server = serve(createStage({ scripts: ["text: one", "text: two"] }));
		const id = await create(server);
		const spelled = `{${id.toUpperCase()}}`;
		const { result } = await answer(server, "1", "turn/start", { session_id: spelled, prompt: "x" });
		expect(result).toMatchObject({ session_id: id, text: "two" });
		await end(server);
	});
});
