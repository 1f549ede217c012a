// Objects whose members have names of the client's choice.
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { labelsSchema, sessionCreateParamsSchema } from "../wire.ts";
import { hookRuntimes } from "./wire-hooks.ts";
import { mcpAddParamsSchema } from "./wire-mcp.ts";

describe.each(["__proto__", "constructor", "prototype"])("a member with the name %s", (name) => {
	const named: unknown = JSON.parse(`{"good":"1","${name}":"2"}`);
	const server = { name: "s", command: "c", env: named };

	it.each([
		["labels", labelsSchema, named],
		["the environment of a session", sessionCreateParamsSchema, { prompt: "", shell_env: named }],
		["the environment of a server", mcpAddParamsSchema, { session_id: "0".repeat(32), server_config: server }],
		["the environment of a hook", hookRuntimes.command, { type: "command", command: "c", env: named }],
		["headers", hookRuntimes.http, { type: "http", url: "http://h.example/", headers: named }],
	])("is refused in %s, and not left out", (_where, schema, value) => {
		expect(v.safeParse(schema, value).success).toBe(false);
		const without: unknown = JSON.parse(JSON.stringify(value).replaceAll(`"${name}"`, '"other"'));
		expect(v.safeParse(schema, without).success).toBe(true);
	});
});
