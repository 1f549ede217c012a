import { describe, expect, it } from "vitest";
import { nobodyToAsk } from "../../../test/support/sessions/session-doubles.ts";
import type { JsonSchema } from "../../api/session-options.ts";
import { textPart } from "../../api/values/content.ts";
import { silentLog } from "../../base/log.ts";
import type { ToolProgress } from "../tools/tool.ts";
import type { Call, CallOutcome } from "./connection.ts";
import { createServerTool } from "./server-tool.ts";

const draft7 = "http://json-schema.org/draft-07/schema#";

function createSubject(parameters: JsonSchema, outcome: CallOutcome = { kind: "aborted" }, description = "Does it.") {
	const calls: Call[] = [];
	const warnings: unknown[] = [];
	const connection = {
		name: "srv",
		async call(call: Call) {
			calls.push(call);
			call.progressed("1 of 2");
			return outcome;
		},
	};
	const log = { ...silentLog, warn: (_: string, fields: unknown) => void warnings.push(fields) };
	const tool = createServerTool(
		{ name: "t", description, parameters, tags: [] },
		{ connection, callTimeout: 2500, questions: nobodyToAsk, log },
	);
	const open = (value: unknown) => tool.open(value, { toolCallId: "c", rawArguments: null });
	return { tool, calls, warnings, open };
}

async function run(outcome: CallOutcome) {
	const { open } = createSubject({ type: "object" }, outcome);
	const opened = await open({});
	if (!opened.ok || opened.preparation.kind !== "ready") throw new Error("It is not ready.");
	return await opened.preparation.execute(new AbortController().signal);
}

describe("a tool of a server", () => {
	it("is described with its server, and without its JSON Schema draft", async () => {
		const { tool } = createSubject({ $schema: draft7, type: "object", properties: { a: {} } });
		expect(tool.description).toBe("A tool of the MCP server srv.\n\nDoes it.");
		expect(await tool.parameters()).toEqual({ type: "object", properties: { a: {} } });
		expect(createSubject({}, undefined, "").tool.description).toMatch(/\n\nNo description provided\.$/);
	});

	it("requests approval, then calls with the checked arguments and reports progress as lines", async () => {
		const { open, calls } = createSubject({ type: "object" });
		const reported: unknown[] = [];
		const opened = await open({ a: 1 });
		expect(opened).toMatchObject({
			ok: true,
			preparation: {
				kind: "ready",
				approval: { action: "mcp:t", description: "Call MCP tool `t`.", display: [] },
				hasEffect: true,
			},
		});
		expect(calls).toEqual([]);
		if (opened.ok && opened.preparation.kind === "ready") {
			const report: ToolProgress = (stream, output) => void reported.push([stream, output]);
			await opened.preparation.execute(new AbortController().signal, report);
		}
		expect(reported).toEqual([["message", "1 of 2\n"]]);
		expect(calls).toMatchObject([
			{ tool: { name: "t" }, arguments: { a: 1 }, timeout: 2500, asker: { toolCallId: "c" } },
		]);
	});

	it.each<[JsonSchema, unknown, RegExp]>([
		[{ type: "object" }, [], /must be an object/],
		[{ type: "object" }, "x", /must be an object/],
		[{ type: "object", required: ["a"] }, {}, /required property 'a'/],
		[
			{ $schema: draft7, type: "object", properties: { a: { type: "number" } } },
			{ a: "1" },
			/arguments\/a must be number/,
		],
		[
			{ $schema: draft7, type: "object", properties: { a: { items: [{ type: "number" }] } } },
			{ a: ["1"] },
			/a\/0 must be number/,
		],
	])("checks its arguments: %j", async (parameters, value, issue) => {
		expect(await createSubject(parameters).open(value)).toEqual({ ok: false, issue: expect.stringMatching(issue) });
	});

	it("leaves the check to its server when its schema is invalid", async () => {
		const { open, warnings } = createSubject({ type: "object", properties: { a: { type: "nonsense" } } });
		expect((await open({ a: 1 })).ok).toBe(true);
		expect(warnings).toMatchObject([{ server: "srv", tool: "t" }]);
	});
});

describe("the outcome of a call", () => {
	it.each<[CallOutcome, object]>([
		[
			{ kind: "answered", result: { content: [{ type: "text", text: "hi" }] } },
			{ is_error: false, output: [textPart("hi")], message: "" },
		],
		[{ kind: "aborted" }, { is_error: true, display: [{ type: "brief", text: "Cancelled" }] }],
		[
			{ kind: "timed-out", progress: "" },
			{
				is_error: true,
				message: "The MCP server srv did not answer within 2.5 s, and the call was cancelled.",
				display: [{ type: "brief", text: "Timeout" }],
			},
		],
		[
			{ kind: "timed-out", progress: "1 of 2" },
			{ message: expect.stringMatching(/ The last progress it reported was 1 of 2\.$/) },
		],
		[
			{ kind: "failed", reason: "it is gone", isUncertain: false },
			{
				is_error: true,
				message: "Error running tool: MCP server srv: it is gone.",
				display: [{ type: "brief", text: "Tool runtime error" }],
			},
		],
		[
			{ kind: "failed", reason: "it is gone", isUncertain: true },
			{ message: "Error running tool: MCP server srv: it is gone. The call may have had an effect." },
		],
	])("becomes a result: %j", async (outcome, expected) => {
		expect(await run(outcome)).toMatchObject(expected);
	});
});
