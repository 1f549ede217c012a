// What the fields of a creation and of a turn do, as the recorded server does it: seen in what the model is asked.
import { describe, expect, it, vi } from "vitest";
import { createSpokenServer } from "../../../../test/support/meerkat/spoken-server.ts";
import { isRecord } from "../../../base/json.ts";
import { createMemoryStore } from "../../../ports/store/memory/memory-store.ts";

const serve = (...says: string[]) => createSpokenServer(says, createMemoryStore());
const schema = { type: "object", properties: { a: { type: "integer" } }, required: ["a"] };

const resultOf = ({ result, error }: Readonly<Record<string, unknown>>) => {
	if (!isRecord(result)) throw new Error(`refused: ${JSON.stringify(error)}`);
	return result;
};
const idOf = (message: Readonly<Record<string, unknown>>) => String(resultOf(message)["session_id"]);

/** Role and text of the messages of a request. */
function messagesOf(body: Readonly<Record<string, unknown>> | undefined): readonly string[] {
	const messages: unknown = body?.["messages"];
	return (Array.isArray(messages) ? messages : []).map((message: unknown) => {
		if (!isRecord(message)) return "";
		const { role, content } = message;
		const texts = Array.isArray(content)
			? content.map((part: unknown) => (isRecord(part) ? String(part["text"]) : "")).join("|")
			: String(content);
		return `${role}: ${texts}`;
	});
}

const toolsOf = ({ tools }: Readonly<Record<string, unknown>>) =>
	(Array.isArray(tools) ? tools : []).map((tool: unknown) => JSON.stringify(tool).match(/"name":"(\w+)"/)?.[1]);

/** The tools in each request of a subagent that was asked to look. */
const subagentTools = (bodies: readonly Readonly<Record<string, unknown>>[]) =>
	bodies.filter((body) => messagesOf(body)[1]?.endsWith("look") === true).map(toolsOf);

describe("an output schema", () => {
	it("is met by the last answer: no further request, and an event after the end of the run", async () => {
		const server = await serve('{"a": 1}');
		const answer = await server.ask("session/create", { prompt: "go", output_schema: schema });
		expect(resultOf(answer)).toMatchObject({ turns: 1, structured_output: { a: 1 } });
		expect(server.bodies).toHaveLength(1);
		expect(server.events().slice(-2)).toMatchObject([
			{ type: "run_completed", extraction_required: true, result: '{"a": 1}' },
			{ type: "extraction_succeeded", structured_output: { a: 1 }, origin: "final_reply" },
		]);
		await server.end();
	});

	it("is asked for again when the answer does not match, without a trace in the conversation", async () => {
		const server = await serve("pong", '```json\n{"a": 2}\n```', "later");
		const answer = await server.ask("session/create", { prompt: "go", output_schema: { schema, name: "thing" } });
		expect(resultOf(answer)).toMatchObject({
			text: "pong",
			turns: 2,
			structured_output: { a: 2 },
			usage: { input_tokens: 20, output_tokens: 10 },
			request_usage: [{ input_tokens: 10 }, { input_tokens: 10 }],
		});
		expect(server.events().at(-1)).toMatchObject({ type: "extraction_succeeded", origin: "extraction" });
		const history = resultOf(await server.ask("session/history", { session_id: idOf(answer) }));
		expect(history["message_count"]).toBe(3);
		await server.end();
	});

	it("that is never met is an error in the result, after as many requests as were asked for", async () => {
		const server = await serve("pong");
		const params = { prompt: "go", output_schema: schema };
		const standard = resultOf(await server.ask("session/create", params));
		expect(standard).toMatchObject({ text: "pong", turns: 4, extraction_error: { last_output: "pong", attempts: 3 } });
		expect(standard).not.toHaveProperty("structured_output");
		expect(server.events().at(-1)).toMatchObject({ type: "extraction_failed", attempts: 3, last_output: "pong" });
		const none = await server.ask("session/create", { ...params, structured_output_retries: 0 });
		expect(resultOf(none)).toMatchObject({ turns: 2, extraction_error: { attempts: 1 } });
		await server.end();
	});

	it("checks the contents, and holds for each run of the session", async () => {
		const server = await serve('{"a": 1}', '{"b": 1}', '{"a": 2}');
		const session_id = idOf(await server.ask("session/create", { prompt: "go", output_schema: schema }));
		const second = await server.ask("turn/start", { session_id, prompt: "again" });
		expect(resultOf(second)).toMatchObject({ structured_output: { a: 2 }, turns: 2 });
		await server.end();
	});

	it.each([5, "x", [], true])("that is %j is refused", async (output_schema) => {
		const server = await serve("pong");
		const { error } = await server.ask("session/create", { prompt: "go", output_schema });
		expect(error).toMatchObject({
			code: -32602,
			message: expect.stringContaining("must be a JSON object at the root"),
		});
		await server.end();
	});

	it("that is no schema is refused with the place, and so is one of a turn", async () => {
		const server = await serve("pong");
		const bad = await server.ask("session/create", { prompt: "go", output_schema: { type: "nope" } });
		expect(bad["error"]).toMatchObject({ code: -32602, message: expect.stringContaining("type") });
		const session_id = idOf(await server.ask("session/create", { prompt: "go" }));
		const late = await server.ask("turn/start", { session_id, prompt: "x", output_schema: schema });
		expect(late["error"]).toMatchObject({ code: -32602, message: expect.stringContaining("fixed when the session") });
		await server.end();
	});
});

describe("context and instructions", () => {
	it("injected context precedes the prompt and stays", async () => {
		const server = await serve("pong");
		const session_id = idOf(await server.ask("session/create", { prompt: "one", injected_context: ["INJ"] }));
		expect(messagesOf(server.bodies[0]).slice(1)).toEqual(["user: INJ|one"]);
		await server.ask("turn/start", { session_id, prompt: "two", injected_context: ["LATER"] });
		expect(messagesOf(server.bodies[1]).slice(1)).toEqual(["user: INJ|one", "assistant: pong", "user: LATER|two"]);
		await server.end();
	});

	it("instructions of a creation end the system prompt for good, those of a turn for that turn", async () => {
		const server = await serve("pong");
		const params = { prompt: "one", system_prompt: "You are X.", additional_instructions: ["Be short."] };
		const session_id = idOf(await server.ask("session/create", params));
		await server.ask("turn/start", { session_id, prompt: "two", additional_instructions: ["In French."] });
		await server.ask("turn/start", { session_id, prompt: "three" });
		expect(server.bodies.map((body) => messagesOf(body)[0])).toEqual([
			"system: You are X.\n\nBe short.",
			"system: You are X.\n\nBe short.\n\nIn French.",
			"system: You are X.\n\nBe short.",
		]);
		await server.end();
	});

	it("a system prompt of a turn is added from then on, and can be disabled", async () => {
		const server = await serve("pong");
		const session_id = idOf(await server.ask("session/create", { prompt: "one", system_prompt: "You are X." }));
		await server.ask("turn/start", { session_id, prompt: "two", system_prompt: "SYS" });
		await server.ask("turn/start", { session_id, prompt: "three" });
		await server.ask("turn/start", { session_id, prompt: "four", system_prompt: { action: "disable" } });
		const first = server.bodies.map((body) => messagesOf(body)[0]);
		expect(first.slice(0, 3)).toEqual(["system: You are X.", "system: You are X.\n\nSYS", "system: You are X.\n\nSYS"]);
		expect(first[3]).not.toContain("You are X");
		await server.end();
	});

	it("a session without a system prompt", async () => {
		const server = await serve("pong");
		await server.ask("session/create", { prompt: "one", system_prompt: { action: "disable" } });
		expect(messagesOf(server.bodies[0])).toEqual(["user: one"]);
		await server.end();
	});
});

it("a run that is stopped by its id may have no param that nobody knows", async () => {
	const server = await serve("pong");
	const session_id = idOf(await server.ask("session/create", { prompt: "go" }));
	const { error } = await server.ask("turn/stop_run", { session_id, run_id: "r", later: true });
	expect(error).toMatchObject({
		code: -32602,
		message: expect.stringContaining("later: is not a parameter of this method"),
	});
	await server.end();
});

describe("the provider of a turn", () => {
	it("that the session has already leaves it its model", async () => {
		const server = await createSpokenServer(["pong"], createMemoryStore(), { models: ["n"] });
		const session_id = idOf(await server.ask("session/create", { prompt: "go", model: "n" }));
		await server.ask("turn/start", { session_id, prompt: "go", provider: "p" });
		expect(server.bodies.map(({ model }) => model)).toEqual(["n", "n"]);
		await server.end();
	});
});

describe("provider params", () => {
	it("of a creation and of a turn stay until they are cleared", async () => {
		const server = await serve("pong");
		const params = { prompt: "one", provider_params: { temperature: 0.25 } };
		const session_id = idOf(await server.ask("session/create", params));
		const turn = (provider_params?: unknown) => server.ask("turn/start", { session_id, prompt: "go", provider_params });
		await turn();
		await turn({ top_p: 0.5, max_output_tokens: 77 });
		await turn();
		await turn({ action: "set", value: { temperature: 0.75 } });
		await turn({ action: "clear" });
		const sampling = server.bodies.map(({ temperature, top_p, max_completion_tokens }) => [
			temperature,
			top_p,
			max_completion_tokens,
		]);
		const cap = sampling[0]?.[2];
		expect(sampling).toEqual([
			[0.25, undefined, cap],
			[0.25, undefined, cap],
			[undefined, 0.5, 77],
			[undefined, 0.5, 77],
			[0.75, undefined, cap],
			[undefined, undefined, cap],
		]);
		await server.end();
	});

	it.each([
		{ nonsense: 1 },
		{ set: { temperature: 1 } },
		{ reasoning: { effort: "high" } },
		{ provider_tag: { provider: { toString: 1, valueOf: 1 } } },
		"clear",
		5,
	])("that are %j are refused", async (provider_params) => {
		const server = await serve("pong");
		const { error } = await server.ask("session/create", { prompt: "go", provider_params });
		expect(error).toMatchObject({ code: -32602, message: expect.stringContaining("provider_params") });
		await server.end();
	});
});

describe("a tool overlay", () => {
	it("limits the tools of that turn alone", async () => {
		const server = await serve("pong");
		const session_id = idOf(await server.ask("session/create", { prompt: "one" }));
		const overlay = { allowed_tools: ["ReadFile", "Shell"], blocked_tools: ["Shell"] };
		await server.ask("turn/start", { session_id, prompt: "two", turn_tool_overlay: overlay });
		await server.ask("turn/start", { session_id, prompt: "three" });
		const names = server.bodies.map(toolsOf);
		expect(names[0]).toContain("Shell");
		expect(names[1]).toEqual(["ReadFile"]);
		expect(names[2]).toEqual(names[0]);
		await server.end();
	});

	it("limits the tools of a subagent that goes on after the turn", async () => {
		const work = { description: "d", prompt: "look", run_in_background: true, subagent_type: "coder" };
		const server = await serve("one", JSON.stringify({ call: "Agent", input: work }), "pong");
		const session_id = idOf(await server.ask("session/create", { prompt: "one" }));
		const overlay = { allowed_tools: ["Agent", "ReadFile"], blocked_tools: ["Shell"] };
		await server.ask("turn/start", { session_id, prompt: "two", turn_tool_overlay: overlay });
		await vi.waitFor(() => expect(subagentTools(server.bodies).length).toBeGreaterThan(0));
		for (const names of subagentTools(server.bodies)) expect(names).toEqual(["ReadFile"]);
		await server.end();
	});

	it("with a member that has no effect is refused", async () => {
		const server = await serve("pong");
		const session_id = idOf(await server.ask("session/create", { prompt: "one" }));
		const { error } = await server.ask("turn/start", { session_id, prompt: "x", turn_tool_overlay: { deny: [] } });
		expect(error).toMatchObject({ code: -32602, message: expect.stringContaining("turn_tool_overlay") });
		await server.end();
	});
});

describe("in another process", () => {
	it("the prompt of a deferred session, its schema and its params are those that it was created with", async () => {
		const store = createMemoryStore();
		const first = await createSpokenServer(["pong"], store);
		const session_id = idOf(
			await first.ask("session/create", {
				prompt: "staged",
				initial_turn: "deferred",
				output_schema: schema,
				provider_params: { temperature: 0.5 },
				additional_instructions: ["Be short."],
			}),
		);
		await first.end();
		const second = await createSpokenServer(['{"a": 3}'], store);
		const answer = await second.ask("turn/start", { session_id, prompt: "now", provider_params: { top_p: 0.5 } });
		expect(resultOf(answer)).toMatchObject({ structured_output: { a: 3 } });
		expect(messagesOf(second.bodies[0]).at(-1)).toBe("user: staged\n\nnow");
		expect(messagesOf(second.bodies[0])[0]).toMatch(/Be short\.$/);
		await second.end();
		const third = await createSpokenServer(['{"a": 4}'], store);
		await third.ask("turn/start", { session_id, prompt: "again" });
		expect(messagesOf(third.bodies[0]).at(-1)).toBe("user: again");
		expect(third.bodies[0]).toMatchObject({ top_p: 0.5 });
		await third.end();
	});
});

describe("context that passes", () => {
	it("follows the prompt in every request of its run, and is gone in the next", async () => {
		const server = await serve("one", "two", "three");
		const created = await server.ask("session/create", { prompt: "first", transient_turn_context: "NOW-1" });
		const session_id = idOf(created);
		await server.ask("turn/start", { session_id, prompt: "second", transient_turn_context: "NOW-2" });
		await server.ask("turn/start", { session_id, prompt: "third" });
		const asked = server.bodies.map((body) => messagesOf(body).slice(1));
		expect(asked).toEqual([
			["user: first|NOW-1"],
			["user: first", "assistant: one", "user: second|NOW-2"],
			["user: first", "assistant: one", "user: second", "assistant: two", "user: third"],
		]);
		await server.end();
	});

	it("is refused for a creation without a run", async () => {
		const server = await serve();
		const params = { prompt: "", initial_turn: "deferred", transient_turn_context: "x" };
		await server.ask("capabilities/get", {});
		const { error } = await server.ask("session/create", params);
		expect(error).toMatchObject({ message: expect.stringContaining("`transient_turn_context` is for a run") });
		await server.end();
	});
});

describe("a filter of tools", () => {
	it.each([
		["All", (tools: readonly unknown[]) => tools.includes("Shell") && tools.includes("Grep")],
		[{ Allow: ["Grep"] }, (tools: readonly unknown[]) => tools.join() === "Grep"],
		[{ Deny: ["Shell"] }, (tools: readonly unknown[]) => !tools.includes("Shell") && tools.includes("Grep")],
	] as const)("%j holds for every turn; an overlay leaves fewer", async (tool_filter, holds) => {
		const server = await serve("one", "two");
		const session_id = idOf(await server.ask("session/create", { prompt: "go", tool_filter }));
		const overlay = { allowed_tools: ["Grep", "Shell", "Glob"] };
		await server.ask("turn/start", { session_id, prompt: "go", turn_tool_overlay: overlay });
		const [first = {}, second = {}] = server.bodies;
		expect(holds(toolsOf(first))).toBe(true);
		expect(toolsOf(second).every((name) => toolsOf(first).includes(name))).toBe(true);
		expect(toolsOf(second)).toContain("Grep");
		await server.end();
	});

	it("of another form is refused", async () => {
		const server = await serve();
		for (const tool_filter of ["Some", { Allow: "x" }, { Allow: [], Deny: [] }]) {
			const { error } = await server.ask("session/create", { prompt: "go", tool_filter });
			expect(error).toMatchObject({ message: expect.stringContaining("tool_filter") });
		}
		await server.end();
	});
});
