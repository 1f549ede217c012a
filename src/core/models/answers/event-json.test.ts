import { describe, expect, it } from "vitest";
import { requestFailure } from "../http/request-failure.ts";
import { createFailure } from "../model.ts";
import { readEventJson } from "./event-json.ts";

const errors = { event: (value: unknown) => createFailure("provider", JSON.stringify(value)) };
const read = (data: string, event: string | null = null) => readEventJson({ event, data, cut: false }, errors);
const nested = (levels: number) => `{"a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;

it.each([2, 200])("an event may nest %i levels deep", (levels) => {
	expect(read(nested(levels))).toBeDefined();
});

it.each([201, 5000, 1_000_000])("an event that nests %i levels deep fails the answer", (levels) => {
	const message = "The provider sent an event that nests more than 200 levels deep.";
	expect(() => read(nested(levels))).toThrow(requestFailure("provider", message));
});

describe("an error in an event", () => {
	it.each<[string, unknown, string | null, unknown]>([
		["in a member", { error: { message: "no" } }, null, { message: "no" }],
		["as a text", { error: "no" }, null, "no"],
		["in a list", [{ error: "no" }], null, "no"],
		["by the name of the event", { message: "no" }, "error", { message: "no" }],
		["by its type", { type: "error", message: "no" }, null, { type: "error", message: "no" }],
		["by its object", { object: "error", message: "no" }, null, { object: "error", message: "no" }],
		["without a frame", { code: 20015, message: "no", data: null }, null, { code: 20015, message: "no", data: null }],
	])("is found %s", (_name, value, event, error) => {
		expect(() => read(JSON.stringify(value), event)).toThrow(requestFailure("provider", JSON.stringify(error)));
	});

	it.each([
		[{ error: null, choices: [] }],
		[{ error: "", choices: [] }],
		[{ code: 0, message: "success" }],
		[{ code: "x", message: "a", choices: [] }],
		[{ type: "response.created", code: "x", message: "a" }],
	])("is not found in %j", (value) => {
		expect(read(JSON.stringify(value))).toEqual(value);
	});
});
