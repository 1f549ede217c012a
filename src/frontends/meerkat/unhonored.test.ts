import { describe, expect, it } from "vitest";
import { createSpokenServer } from "../../../test/support/meerkat/spoken-server.ts";
import { createMemoryStore } from "../../ports/store/memory/memory-store.ts";
import {
	refuseUnhonoredOfConfig,
	refuseUnhonoredOfCreate,
	refuseUnhonoredOfFirst,
	refuseUnhonoredOfTurn,
} from "./unhonored.ts";

describe("a creation", () => {
	it.each(["keep_alive", "comms_name", "skill_references"])("with `%s` is refused by name", (field) => {
		expect(() => refuseUnhonoredOfCreate({ prompt: "x", [field]: { a: 1 } })).toThrow(`\`${field}\``);
	});

	it("without a run is refused the skills of one, and with a run it is not", () => {
		const params = { prompt: "x", skill_refs: [{ source_uuid: "a", skill_name: "b" }] };
		expect(() => refuseUnhonoredOfCreate({ ...params, initial_turn: "deferred" })).toThrow("`skill_refs`");
		expect(() => refuseUnhonoredOfCreate(params)).not.toThrow();
	});

	it("with nothing but nulls, false and what has an effect is taken", () => {
		const params = { prompt: "x", model: "m", enable_builtins: true, labels: null, enable_memory: false };
		expect(() => refuseUnhonoredOfCreate(params)).not.toThrow();
	});
});

describe("the first protocol", () => {
	it.each([
		"additional_instructions",
		"budget",
		"hooks",
		"host_mode",
		"injected_context",
		"output_schema",
		"preload_skills",
		"provider_params",
		"shell_env",
		"skill_refs",
		"structured_output_retries",
		"tool_filter",
		"transient_turn_context",
		"turn_tool_overlay",
	])("refuses `%s` by name", (field) => {
		const params = { prompt: "x", [field]: { a: 1 } };
		expect(() => refuseUnhonoredOfFirst(params, "create")).toThrow(`\`${field}\``);
		expect(() => refuseUnhonoredOfFirst(params, "turn")).toThrow(`\`${field}\``);
	});

	it("takes budgets, hooks, a model and tools at a creation, not at a turn", () => {
		const fields = ["budget_limits", "hooks_override", "turn_budget_limits", "model", "system_prompt", "enable_shell"];
		for (const field of fields) {
			const params = { prompt: "x", [field]: { a: 1 } };
			expect(() => refuseUnhonoredOfFirst(params, "create")).not.toThrow();
			expect(() => refuseUnhonoredOfFirst(params, "turn")).toThrow(`\`${field}\``);
		}
	});

	it("ignores what neither protocol knows, and fields that ask for nothing", () => {
		const params = { prompt: "x", color: "red", skill_refs: [], shell_env: {}, tool_filter: null, keep_alive: false };
		for (const of of ["create", "turn"] as const) expect(() => refuseUnhonoredOfFirst(params, of)).not.toThrow();
	});

	it("sends no events of a run that wants none", async () => {
		const server = await createSpokenServer(["pong"], createMemoryStore(), { isFirst: true });
		const { result } = await server.ask("session/create", { prompt: "x", session_events: false });
		expect(result).toMatchObject({ text: "pong" });
		expect(server.events()).toEqual([]);
		await server.end();
	});

	it("gives the commands alone with `enable_shell` alone", async () => {
		const server = await createSpokenServer(["pong"], createMemoryStore(), { isFirst: true });
		await server.ask("session/create", { prompt: "x", enable_shell: true });
		const [body] = server.bodies;
		expect(JSON.stringify(body?.["tools"])).toContain('"Shell"');
		expect(JSON.stringify(body?.["tools"])).not.toContain('"ReadFile"');
		await server.end();
	});
});

describe("a configuration", () => {
	it.each([
		["budget", { budget: { max_tokens: 5 } }],
		["hooks", { hooks: { entries: [{ id: "a" }] } }],
		["hooks", { hooks: { pre_tool_execution: ["x"] } }],
		["limits", { limits: { max_duration: "5s" } }],
		["output_schema", { output_schema: { type: "object" } }],
		["agent.output_schema", { agent: { model: "m", output_schema: { type: "object" } } }],
		["turn_tool_overlay", { turn_tool_overlay: { allowed_tools: ["a"] } }],
		["shell.security_patterns", { shell: { security_mode: "allow_list", security_patterns: ["ls"] } }],
	])("with `%s` is refused by name, and nothing is written", async (name, config) => {
		expect(() => refuseUnhonoredOfConfig(config)).toThrow(`\`${name}\``);
		const server = await createSpokenServer(["pong"], createMemoryStore(), { isFirst: true });
		for (const [method, params] of [
			["config/set", config],
			["config/patch", { ...config, max_tokens: 7 }],
			["config/set", { config }],
			["config/patch", { patch: config }],
		] as const) {
			const answer = await server.ask(method, params);
			expect(answer).toMatchObject({ error: { code: -32602, message: expect.stringContaining(`\`${name}\``) } });
		}
		expect(await server.ask("config/get")).toMatchObject({ result: { max_tokens: 16_384 } });
		await server.end();
	});

	it("with the defaults of other servers is taken", () => {
		const budget = { max_tokens: null, max_duration: null, max_tool_calls: null };
		const hooks = {
			default_timeout_ms: 5000,
			payload_max_bytes: 131_072,
			background_max_concurrency: 32,
			entries: [],
		};
		const shell = { program: "nu", timeout_secs: 30, security_mode: "unrestricted", security_patterns: [] };
		const config = { agent: { model: "m" }, budget, hooks, shell, limits: { budget: null, max_duration: null } };
		expect(() => refuseUnhonoredOfConfig(config)).not.toThrow();
	});
});

describe("a turn", () => {
	it.each(["output_schema", "max_tokens", "anything"])("with `%s` is refused by name", (field) => {
		expect(() => refuseUnhonoredOfTurn({ session_id: "s", prompt: "x", [field]: "y" })).toThrow(`\`${field}\``);
	});

	it("names no more than the beginning of a long field", () => {
		const refuse = () => refuseUnhonoredOfTurn({ ["x".repeat(100_000)]: 1 });
		expect(refuse).toThrow(/^.{1,400}$/u);
	});

	it("with what has an effect is taken", () => {
		const params = { session_id: "s", prompt: "x", session_events: false, model: null };
		expect(() => refuseUnhonoredOfTurn(params)).not.toThrow();
	});
});
