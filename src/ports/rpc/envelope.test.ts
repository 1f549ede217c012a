import { describe, expect, it } from "vitest";
import { acpRules as acp } from "../../frontends/acp/envelope.ts";
import { envelopeRules as kimi } from "../../frontends/kimi/envelope.ts";
import { envelopeRules as legacy } from "../../frontends/legacy/envelope.ts";
import {
	errorLine,
	notificationLine,
	parseJsonLine,
	readEnvelope,
	requestLine,
	resultLine,
	trimLine,
} from "./envelope.ts";

const read = (line: string, rules = kimi) => readEnvelope(parseJsonLine(trimLine(line)), rules);
const refused = (code: number, message: string) => ({ kind: "refused", error: { code, message } });
const parseError = refused(-32700, "Invalid JSON format");
const invalidRequest = refused(-32600, "Invalid request");
const invalidResponse = refused(-32600, "Invalid response");
const silence = { kind: "refused", error: null };
const request = (id: string, method: string, params?: unknown) => ({ kind: "request", id, method, params });

describe("reading an envelope of 1.x", () => {
	it.each([[""], ["   "], ["\t\r"], ["\u00a0\u2003"], ["{not-json}"], ["{}x"], ["\ufeff{}"], ["NaN"], ["Infinity"]])(
		"refuses %j as a parse error",
		(line) => expect(read(line)).toEqual(parseError),
	);
	it('cannot parse {"a":NaN}', () => expect(read('{"id":"a","method":"cancel","params":NaN}')).toEqual(parseError));

	it.each([["[]"], ['[{"jsonrpc":"2.0","id":"1","method":"cancel"}]'], ["null"], ["1"], ['"x"'], ["true"]])(
		"refuses %s as an invalid request",
		(line) => expect(read(line)).toEqual(invalidRequest),
	);

	it.each([
		["{}"],
		['{"jsonrpc":"2.0"}'],
		['{"jsonrpc":"2.0","result":1}'],
		['{"id":null,"error":{"code":1,"message":"x"}}'],
		['{"method":null,"id":null,"result":1}'],
	])("ignores %s", (line) => expect(read(line)).toEqual(silence));

	it.each([["1"], ["1.5"], ["true"], ["[]"], ["{}"]])("refuses the id %s without echoing it", (id) =>
		expect(read(`{"jsonrpc":"2.0","id":${id},"method":"cancel"}`)).toEqual(invalidRequest),
	);

	it("treats a null or absent id as a notification", () => {
		const notification = { kind: "notification", method: "cancel", params: undefined };
		expect(read('{"id":null,"method":"cancel"}')).toEqual(notification);
		expect(read('{"method":"cancel"}')).toEqual(notification);
	});

	it("preserves an empty id and an empty method", () => {
		expect(read('{"id":"","method":"cancel"}')).toEqual(request("", "cancel"));
		expect(read('{"id":"a","method":""}')).toEqual(request("a", ""));
	});

	it("accepts an absent jsonrpc, but no other version", () => {
		expect(read('{"id":"a","method":"cancel"}')).toEqual(request("a", "cancel"));
		for (const version of ["null", "2.0", '"2.1"', '"2"', "[]"]) {
			expect(read(`{"jsonrpc":${version},"id":"a","method":"cancel"}`)).toEqual(invalidRequest);
		}
	});

	it.each([["5"], ["[]"], ["{}"], ["true"]])("refuses the method %s", (method) =>
		expect(read(`{"id":"a","method":${method}}`)).toEqual(invalidRequest),
	);

	it.each([["[1]"], ['"x"'], ["null"], ["5"], ['{"a":{}}']])("accepts any params: %s", (params) =>
		expect(read(`{"id":"a","method":"cancel","params":${params}}`)).toEqual(request("a", "cancel", JSON.parse(params))),
	);

	it("ignores unknown keys and uses the last of duplicate ones", () => {
		expect(read('{"id":"a","id":"b","method":"x","method":"cancel","more":1}')).toEqual(request("b", "cancel"));
	});

	it("prefers a method to a result", () => {
		expect(read('{"id":"a","method":"cancel","result":{}}')).toEqual(request("a", "cancel"));
	});

	it("trims white space and treats an inner CR as white space", () => {
		expect(read(' \u0085\u001c{"id":\r"a","method":"cancel"}\r')).toEqual(request("a", "cancel"));
	});

	it("reads results, null and next to a null error included", () => {
		const result = (value: unknown) => ({ kind: "response", id: "z", reply: { kind: "result", result: value } });
		expect(read('{"id":"z","result":{"a":1}}')).toEqual(result({ a: 1 }));
		expect(read('{"id":"z","result":null}')).toEqual(result(null));
		expect(read('{"id":"z","result":1,"error":null}')).toEqual(result(1));
		expect(read('{"method":null,"id":"z","result":1}')).toEqual(result(1));
	});

	it("reads errors, with a numeric string as code", () => {
		const error = (code: number, data: unknown) => ({
			kind: "response",
			id: "z",
			reply: { kind: "error", error: { code, message: "m", data } },
		});
		expect(read('{"id":"z","error":{"code":-5,"message":"m"}}')).toEqual(error(-5, null));
		expect(read('{"id":"z","error":{"code":"-5","message":"m","data":[1],"more":2}}')).toEqual(error(-5, [1]));
	});

	it.each([['{"id":"z"}'], ['{"id":"z","error":null}'], ['{"jsonrpc":"2.0","id":"z","method":null}']])(
		"refuses %s, which is neither result nor error",
		(line) => expect(read(line)).toEqual(invalidResponse),
	);

	it.each([
		["{}"],
		['{"code":1.5,"message":"m"}'],
		['{"code":"x","message":"m"}'],
		['{"code":1}'],
		["[]"],
		['"e"'],
		["5"],
	])("refuses the error %s", (error) => expect(read(`{"id":"z","error":${error}}`)).toEqual(invalidRequest));

	it("handles deep nesting", () => {
		const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
		expect(read(`{"id":"a","method":"cancel","params":${deep}}`)).toMatchObject({ kind: "request", id: "a" });
	});
});

describe("reading an envelope of an editor", () => {
	it.each([
		['{"jsonrpc":"2.0","id":null,"method":"session/list"}'],
		['{"jsonrpc":"2.0","id":null,"method":"session/list","params":{}}'],
		['{"jsonrpc":"1.0","id":null,"method":"session/list"}'],
	])("refuses %s, whose sender awaits an answer", (line) =>
		expect(read(line, acp)).toMatchObject({ kind: "refused", error: { code: -32600 } }),
	);

	it("takes a method without an id for a notification", () => {
		expect(read('{"jsonrpc":"2.0","method":"session/cancel"}', acp)).toMatchObject({ kind: "notification" });
		expect(read('{"jsonrpc":"1.0","method":"session/cancel"}', acp)).toEqual(silence);
	});
});

describe("reading a legacy envelope", () => {
	it.each([
		["{not-json}"],
		["[]"],
		["1"],
		['{"id":"a","method":"run"}'],
		['{"jsonrpc":"2.1","id":"a","method":"run"}'],
		['{"jsonrpc":"2.0","id":"a","method":"run","more":1}'],
		['{"jsonrpc":"2.0","id":5,"method":"run"}'],
		['{"jsonrpc":"2.0","id":"a","error":{}}'],
		['{"jsonrpc":"2.0","id":"a"}'],
	])("ignores %s", (line) => expect(read(line, legacy)).toEqual(silence));

	it.each([[[]], [null], [5], ["x"]])("reads a request with the params %j", (params) => {
		expect(read(JSON.stringify({ jsonrpc: "2.0", id: "a", method: "interrupt", params }), legacy)).toEqual(
			request("a", "interrupt", params),
		);
	});

	it("reads requests, notifications and replies", () => {
		expect(read('{"jsonrpc":"2.0","id":"a","method":"run","params":{"input":"x"}}', legacy)).toEqual(
			request("a", "run", { input: "x" }),
		);
		expect(read('{"jsonrpc":"2.0","method":"interrupt"}', legacy)).toEqual({
			kind: "notification",
			method: "interrupt",
			params: undefined,
		});
		expect(read('{"jsonrpc":"2.0","id":"a","result":{"response":"approve"}}', legacy)).toEqual({
			kind: "response",
			id: "a",
			reply: { kind: "result", result: { response: "approve" } },
		});
	});
});

describe("writing lines", () => {
	it("has the key order of the reference", () => {
		expect(notificationLine("event", { type: "TurnEnd", payload: {} })).toBe(
			'{"jsonrpc":"2.0","method":"event","params":{"type":"TurnEnd","payload":{}}}',
		);
		expect(requestLine("U", "request", {})).toBe('{"jsonrpc":"2.0","method":"request","id":"U","params":{}}');
		expect(resultLine("a", {})).toBe('{"jsonrpc":"2.0","id":"a","result":{}}');
	});

	it("always includes data in 1.x and never in legacy", () => {
		const error = { code: -1, message: "m" };
		expect(errorLine(null, error, kimi)).toBe(
			'{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"m","data":null}}',
		);
		expect(errorLine("a", { ...error, data: { b: 1 } }, kimi)).toBe(
			'{"jsonrpc":"2.0","id":"a","error":{"code":-1,"message":"m","data":{"b":1}}}',
		);
		expect(errorLine("a", error, legacy)).toBe('{"jsonrpc":"2.0","id":"a","error":{"code":-1,"message":"m"}}');
		expect(errorLine("a", { ...error, data: null }, legacy)).toBe(
			'{"jsonrpc":"2.0","id":"a","error":{"code":-1,"message":"m"}}',
		);
	});
});
