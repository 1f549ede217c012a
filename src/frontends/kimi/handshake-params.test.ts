// Where the handshake needs an object, an array is none (wire-protocol §2.2).
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { initializeParamsSchema } from "./wire.ts";

const fits = (params: unknown) => v.safeParse(initializeParamsSchema, params).success;
const withParameters = (parameters: unknown) => ({
	protocol_version: "1.10",
	external_tools: [{ name: "T", description: "", parameters }],
});

describe("the params of initialize", () => {
	it("accept objects and nulls", () => {
		expect(fits({ protocol_version: "1.10", client: null, external_tools: null, capabilities: null })).toBe(true);
		expect(fits({ protocol_version: "1.10", client: { name: "c" }, capabilities: {} })).toBe(true);
		expect(fits(withParameters({ type: "object" }))).toBe(true);
	});

	it("refuse arrays instead of objects", () => {
		expect(fits({ protocol_version: "1.10", capabilities: [] })).toBe(false);
		expect(fits({ protocol_version: "1.10", client: [] })).toBe(false);
		expect(fits(withParameters([]))).toBe(false);
	});
});
