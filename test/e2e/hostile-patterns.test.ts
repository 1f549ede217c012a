// Patterns and schemas from outside that would keep the process busy for ever.
import { appendFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createStage, toolCall } from "../support/executable/executable.ts";

const prompt = (text: string) => ({ user_input: text });

describe("a pattern from outside", () => {
	it("of Glob delays nobody", async () => {
		const stage = createStage({ scripts: [toolCall("c1", "Glob", { pattern: "*a*a*a*a*a*a*a*a*b" }), "text: done"] });
		writeFileSync(path.join(stage.workDir, "a".repeat(100)), "");
		const server = stage.serve("--wire");
		server.request("p", "prompt", prompt("find"));
		const { params } = await server.message("ToolResult");
		expect(params?.payload["return_value"]).toMatchObject({
			is_error: false,
			message: expect.stringMatching(/^No matches found/),
		});
		expect(await server.response("p")).toMatchObject({ result: { status: "finished" } });
		server.kill("SIGTERM");
		expect(await server.exited).toBe(0);
	});

	it("that the matcher of a setting cannot have is reported with file and key, and blocks where the hook fails closed", async () => {
		const stage = createStage({ scripts: [toolCall("c1", "Glob", { pattern: "*" }), "text: done"] });
		const hooks = [
			'\n[[hooks]]\nevent = "PreToolUse"\nmatcher = "*"\ncommand = "true"\n',
			'\n[[hooks]]\nevent = "PreToolUse"\nmatcher = "(?<=x)Glob"\ncommand = "./guard"\nfail_closed = true\n',
		];
		const file = path.join(stage.shareDir, "config.toml");
		appendFileSync(file, hooks.join(""));
		const server = stage.serve("--wire");
		server.request("p", "prompt", prompt("find"));
		const { params } = await server.message("ToolResult");
		expect(params?.payload["return_value"]).toMatchObject({
			is_error: true,
			message: expect.stringContaining(
				`The matcher \`(?<=x)Glob\` of the hook \`${path.join(stage.shareDir, "guard")}\` cannot be used`,
			),
		});
		expect(await server.response("p")).toMatchObject({ result: { status: "finished" } });
		await expect.poll(() => server.stderr).toContain(`${file}: hooks[1].matcher: `);
		expect(server.stderr).toContain(
			`${file}: hooks[0].matcher: \`*\` cannot be used: there is nothing before "*" that it could repeat. The hook never runs.`,
		);
		server.endInput();
		expect(await server.exited).toBe(0);
	});
});

describe("a schema of a client's tool", () => {
	it("that doubles 26 times is abandoned, and the call gets an error", async () => {
		const $defs: Record<string, object> = { d26: { type: "string" } };
		for (let index = 0; index < 26; index += 1) {
			const next = { $ref: `#/$defs/d${index + 1}` };
			$defs[`d${index}`] = { anyOf: [next, next] };
		}
		const parameters = { type: "object", properties: { a: { $ref: "#/$defs/d0" } }, $defs };
		const refused = { type: "object", properties: { a: { pattern: "(a)\\1" } } };
		const stage = createStage({ scripts: [toolCall("c1", "Ask", { a: {} }), "text: done"] });
		const server = stage.serve("--wire");
		const tool = { name: "Ask", description: "asks", parameters };
		const external_tools = [tool, { ...tool, name: "Other", parameters: refused }];
		server.request("i", "initialize", { protocol_version: "1.10", external_tools });
		expect(await server.response("i")).toMatchObject({
			result: {
				external_tools: {
					accepted: ["Ask"],
					rejected: [
						{
							name: "Other",
							reason:
								'schema/properties/a/pattern has a pattern that cannot be used, "(a)\\1": it refers back to a group with "\\1"',
						},
					],
				},
			},
		});
		server.request("p", "prompt", prompt("ask"));
		const { params } = await server.message("ToolResult");
		expect(params?.payload["return_value"]).toMatchObject({
			is_error: true,
			message: expect.stringContaining("it takes more than 200,000 steps to compare them with the schema"),
		});
		expect(await server.response("p")).toMatchObject({ result: { status: "finished" } });
		server.endInput();
		expect(await server.exited).toBe(0);
	});
});
