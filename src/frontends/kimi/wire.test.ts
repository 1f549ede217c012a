import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { initializeParamsSchema, inputParamsSchema, setPlanModeParamsSchema } from "./wire.ts";

const read = (schema: v.GenericSchema, value: unknown) => {
	const parsed = v.safeParse(schema, value);
	return parsed.success ? parsed.output : "refused";
};
const tool = { name: "t", description: "", parameters: {} };

describe("params of initialize", () => {
	it("requires a version as text and has defaults for the rest", () => {
		expect(read(initializeParamsSchema, { protocol_version: "9.9", more: 1 })).toEqual({
			protocol_version: "9.9",
			client: null,
			external_tools: null,
			capabilities: null,
			hooks: null,
		});
	});

	it.each([
		[undefined],
		[null],
		[[]],
		["1.10"],
		[{}],
		[{ protocol_version: 1.1 }],
		[{ protocol_version: null }],
		[{ protocol_version: "1.1", client: {} }],
		[{ protocol_version: "1.1", client: { name: "n", version: 5 } }],
		[{ protocol_version: "1.1", external_tools: {} }],
		[{ protocol_version: "1.1", external_tools: [{ ...tool, description: null }] }],
		[{ protocol_version: "1.1", external_tools: [{ ...tool, parameters: null }] }],
		[{ protocol_version: "1.1", external_tools: [{ ...tool, parameters: [] }] }],
		[{ protocol_version: "1.1", capabilities: [] }],
		[{ protocol_version: "1.1", capabilities: { supports_question: "maybe" } }],
		[{ protocol_version: "1.1", hooks: {} }],
		[{ protocol_version: "1.1", hooks: ["Stop"] }],
		[{ protocol_version: "1.1", hooks: [{ event: "Stop" }] }],
		[{ protocol_version: "1.1", hooks: [{ id: 1, event: "Stop" }] }],
		[{ protocol_version: "1.1", hooks: [{ id: "h" }] }],
		[{ protocol_version: "1.1", hooks: [{ id: "h", event: "Stop", matcher: null }] }],
		[{ protocol_version: "1.1", hooks: [{ id: "h", event: "Stop", timeout: 30.5 }] }],
		[{ protocol_version: "1.1", hooks: [{ id: "h", event: "Stop", timeout: "soon" }] }],
	])("refuses %j", (params) => expect(read(initializeParamsSchema, params)).toBe("refused"));

	it("accepts null for optional fields", () => {
		const params = { protocol_version: "1.1", client: null, external_tools: null, capabilities: null, hooks: null };
		expect(read(initializeParamsSchema, params)).toEqual(params);
		expect(
			read(initializeParamsSchema, { ...params, client: { name: "c", version: null }, external_tools: [tool] }),
		).toEqual({ ...params, client: { name: "c", version: null }, external_tools: [tool] });
	});
});

describe("hooks of a handshake", () => {
	it("have defaults, and whole seconds as lenient as in the reference", () => {
		const hooks = [
			{ id: "a", event: "Stop" },
			{ id: "b", event: "Whatever", matcher: "x", timeout: "5", more: 1 },
			{ id: "c", event: "Stop", timeout: 30.0 },
		];
		expect(read(initializeParamsSchema, { protocol_version: "1.7", hooks })).toMatchObject({
			hooks: [
				{ id: "a", event: "Stop", matcher: "", timeout: 30 },
				{ id: "b", event: "Whatever", matcher: "x", timeout: 5 },
				{ id: "c", event: "Stop", matcher: "", timeout: 30 },
			],
		});
	});
});

describe("other params", () => {
	it.each([[true], ["true"], [1], ["1"], ["Yes"], ["ON"]])("accepts %j as true", (enabled) =>
		expect(read(setPlanModeParamsSchema, { enabled })).toEqual({ enabled: true }),
	);
	it.each([[false], ["false"], [0], ["0"]])("accepts %j as false", (enabled) =>
		expect(read(setPlanModeParamsSchema, { enabled })).toEqual({ enabled: false }),
	);
	it.each([["maybe"], [2], [null], [{}], [""]])("accepts %j as neither", (enabled) =>
		expect(read(setPlanModeParamsSchema, { enabled })).toBe("refused"),
	);
	it("requires a plan mode and an input", () => {
		expect(read(setPlanModeParamsSchema, {})).toBe("refused");
		expect(read(inputParamsSchema, {})).toBe("refused");
		expect(read(inputParamsSchema, undefined)).toBe("refused");
		expect(read(inputParamsSchema, { user_input: [{ type: "file" }] })).toBe("refused");
		expect([read(inputParamsSchema, { user_input: "" }), read(inputParamsSchema, { user_input: [] })]).toEqual([
			{ user_input: "" },
			{ user_input: [] },
		]);
	});
});
