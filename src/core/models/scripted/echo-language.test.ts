import { describe, expect, it } from "vitest";
import { longestPause, shortestPause } from "../../../../test/support/host/pauses.ts";
import type { ModelFailure, ModelPart } from "../model.ts";
import { type EchoScript, parseEchoScript } from "./echo-language.ts";
import { EchoScriptError } from "./echo-payload.ts";

function parts(script: string): readonly ModelPart[] {
	return parseEchoScript(script).parts;
}

function failureOf(script: string): ModelFailure {
	try {
		parseEchoScript(script);
	} catch (thrown) {
		if (thrown instanceof EchoScriptError) return thrown.failure;
		throw thrown;
	}
	throw new Error("the script was accepted");
}

function providerFailure(message: string): ModelFailure {
	return { kind: "provider", message, statusCode: null, retryAfter: null };
}

const text = (value: string): ModelPart => ({ type: "text", text: value });
const fragment = (value: string | null): ModelPart => ({ type: "tool_call_part", arguments_part: value });
const call = (
	value: Partial<{ id: string; name: string; arguments: string | null; extras: Record<string, unknown> }>,
): ModelPart => ({
	type: "function",
	id: value.id ?? "c1",
	function: { name: value.name ?? "Shell", arguments: value.arguments ?? null },
	extras: value.extras ?? null,
});

describe("lines", () => {
	it("parses the minimal example", () => {
		const script = [
			"id: scripted-1",
			"usage: input_other=5 output=2",
			"think: considering",
			"text: step1",
			'tool_call: {"id":"tc-1","name":"Shell","arguments":"{\\"command\\":\\"echo ok\\"}"}',
		].join("\n");
		expect(parseEchoScript(script)).toEqual({
			messageId: "scripted-1",
			usage: { input_other: 5, output: 2, input_cache_read: 0, input_cache_creation: 0 },
			parts: [
				{ type: "think", think: "considering", encrypted: null },
				text("step1"),
				call({ id: "tc-1", arguments: '{"command":"echo ok"}' }),
			],
			end: null,
		} satisfies EchoScript);
	});

	it("ignores blank lines, comments, fences and a lone echo", () => {
		expect(parts("\n  \n# text: no\n```text\nECHO\n  echo \ntext: yes\n```")).toEqual([text("yes")]);
	});

	it.each(["\n", "\r\n", "\r", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"])(
		"treats %j as a line end",
		(lineEnd) => {
			expect(parts(`text: a${lineEnd}text: b`)).toEqual([text("a"), text("b")]);
		},
	);

	it("splits at the first colon, in any case and with spaces around the kind", () => {
		expect(parts("  TeXt : a: b  ")).toEqual([text("a: b")]);
	});

	it("removes one leading space of the payload, and one pair of quotes", () => {
		expect(parts('text:  a\ntext:b\ntext: "\'c\'"\ntext: \'d"\ntext: "\ntext: \'a\\nb\'\ntext: " e "\ntext:')).toEqual(
			[" a", "b", "'c'", "'d\"", '"', "a\\nb", " e ", ""].map(text),
		);
	});

	it("uses the last id and the last usage, each as a whole", () => {
		const script = parseEchoScript(
			"id: a\nid: ' b '\nusage: output=1 input_cache_read=3\nusage: input_other=2\ntext: x",
		);
		expect(script).toMatchObject({
			messageId: " b ",
			usage: { input_other: 2, output: 0, input_cache_read: 0, input_cache_creation: 0 },
		});
		expect(parseEchoScript("text: x")).toMatchObject({ messageId: null, usage: null });
	});

	it("parses 20,000 lines in bounded time", async () => {
		const script = Array.from({ length: 20_000 }, (_, index) => `text: piece ${index}`).join("\n");
		const pause = await shortestPause(async () => expect(parts(script)).toHaveLength(20_000));
		expect(pause).toBeLessThan(longestPause);
	});
});

describe("usage", () => {
	const usage = (payload: string) => parseEchoScript(`usage: ${payload}\ntext: x`).usage;

	it.each([
		[
			'{"input_other": 5.9, "output": "7"}',
			{ input_other: 5, output: 7, input_cache_read: 0, input_cache_creation: 0 },
		],
		["input_other=1,output=2", { input_other: 1, output: 2, input_cache_read: 0, input_cache_creation: 0 }],
		[
			"input_other=1, output=2.7 input_cache_read='3' input_cache_creation=4",
			{ input_other: 1, output: 2, input_cache_read: 3, input_cache_creation: 4 },
		],
		["output=-0.5", { input_other: 0, output: 0, input_cache_read: 0, input_cache_creation: 0 }],
	])("reads %s", (payload, expected) => {
		expect(usage(payload)).toEqual(expected);
	});

	it.each([
		["[1]", "the payload must be an object"],
		["5", "the payload must be an object"],
		["", "the payload is empty"],
		[", ,", "the payload is empty"],
		["output", "expected key=value, found 'output'"],
		["output=many", "output must be an integer"],
		["output=true", "output must be an integer"],
		["output=null", "output must be an integer"],
		['output="1.5"', "output must be an integer"],
	])("refuses %s", (payload, problem) => {
		expect(failureOf(`text: x\nusage: ${payload}`)).toEqual(
			providerFailure(`Invalid echo usage at line 2: ${problem}`),
		);
	});
});

describe("media", () => {
	it("parses URLs, quoted or not, and objects", () => {
		const script = [
			"image_url: https://a/b.png",
			'audio_url: "data:audio/wav;base64,AA"',
			'video_url: {"url": "ms://1", "id": "v1"}',
			'image_url: {"url": "u"}',
		];
		expect(parts(script.join("\n"))).toEqual([
			{ type: "image_url", image_url: { url: "https://a/b.png", id: null } },
			{ type: "audio_url", audio_url: { url: "data:audio/wav;base64,AA", id: null } },
			{ type: "video_url", video_url: { url: "ms://1", id: "v1" } },
			{ type: "image_url", image_url: { url: "u", id: null } },
		]);
	});

	it.each(["", "null", "None", "7", "[]", '{"id":"x"}', '{"url":1}'])("refuses the URL %s", (payload) => {
		expect(failureOf(`image_url: ${payload}`)).toEqual(
			providerFailure("Invalid echo image_url at line 1: the URL must be a string"),
		);
	});

	it("refuses an id that is not a string", () => {
		expect(failureOf('image_url: {"url":"u","id":1}').message).toContain("id must be a string");
	});
});

describe("tool calls", () => {
	it.each([
		['{"id":"c1","name":"Shell"}', call({})],
		['{"id":"c1","name":"Shell","arguments":null}', call({})],
		['{"id":"c1","name":"Shell","arguments":"{\\"a\\":1}"}', call({ arguments: '{"a":1}' })],
		['{"id":"c1","function":{"name":"Shell","arguments":"{}"}}', call({ arguments: "{}" })],
		['{"id":"c1","name":"Shell","extras":{"k":1}}', call({ extras: { k: 1 } })],
		['{"id":"c1","function":{"name":"Shell","extras":{"k":2}}}', call({ extras: { k: 2 } })],
		['{"id":"c1","name":"Shell","extras":"no"}', call({})],
		["id=c1 name=Shell", call({})],
		["id=c1, name=Shell, arguments='{\"a\":1}'", call({ arguments: '{"a":1}' })],
	])("reads %s", (payload, expected) => {
		expect(parts(`tool_call: ${payload}`)).toEqual([expected]);
	});

	it.each([
		['{"name":"Shell"}', "id must be a string"],
		['{"id":1,"name":"Shell"}', "id must be a string"],
		['{"id":"c1"}', "name must be a string"],
		['{"id":"c1","name":"Shell","arguments":{}}', "arguments must be a string"],
		["id=c1 name=Shell arguments={}", "arguments must be a string"],
		["", "the payload is empty"],
		["{}", "the payload is empty"],
		['"x"', "the payload must be an object"],
	])("refuses %s", (payload, problem) => {
		expect(failureOf(`tool_call: ${payload}`)).toEqual(providerFailure(`Invalid echo tool_call at line 1: ${problem}`));
	});

	it.each([
		['{"todos":', '{"todos":'],
		["[]}", "[]}"],
		['"[]}"', "[]}"],
		["'x y'", "x y"],
		["", null],
		["null", null],
		['""', null],
		['{"arguments_part": "piece"}', "piece"],
		['{"arguments_part": null}', null],
		['{"arguments_part": {"a": 1}}', '{"a":1}'],
		['{"a": [1, 2]}', '{"a":[1,2]}'],
		["[1, 2]", "[1,2]"],
	])("continues the arguments with %s", (payload, expected) => {
		expect(parts(`tool_call_part: ${payload}`)).toEqual([fragment(expected)]);
	});

	it.each([
		["5", "number"],
		["true", "boolean"],
		['{"arguments_part": 1.5}', "number"],
	])("treats %s as an internal error", (payload, type) => {
		expect(failureOf(`text: x\ntool_call_part: ${payload}`)).toEqual({
			kind: "defect",
			message: `Invalid echo tool_call_part at line 2: the payload must not be a ${type}`,
			statusCode: null,
			retryAfter: null,
		});
	});
});

describe("errors", () => {
	it.each([
		["429", { kind: "status", message: "Simulated 429 error", statusCode: 429 }],
		["503 Engine  overloaded.", { kind: "status", message: "Engine  overloaded.", statusCode: 503 }],
		["Connection", { kind: "connection", message: "Simulated connection error", statusCode: null }],
		["connection lost it", { kind: "connection", message: "lost it", statusCode: null }],
		["TIMEOUT", { kind: "timeout", message: "Simulated timeout error", statusCode: null }],
		["timeout too slow", { kind: "timeout", message: "too slow", statusCode: null }],
	])("simulates %s, on whatever line", (payload, expected) => {
		expect(failureOf(`text: never told\nerror: ${payload}\ntext: x`)).toEqual({ ...expected, retryAfter: null });
	});

	it("simulates a refusal, and a failure that may not happen again", () => {
		expect(failureOf("error: refused no")).toEqual({ ...providerFailure("no"), isRefused: true });
		expect(failureOf("error: transient later")).toEqual({ ...providerFailure("later"), isTransient: true });
	});

	it("says why the answer ended", () => {
		expect(parseEchoScript("text: a\nend: truncated length").end).toEqual({ kind: "truncated", reason: "length" });
		expect(parseEchoScript("text: a\nend: paused").end).toEqual({ kind: "paused", reason: "pause_turn" });
		expect(failureOf("end: later").message).toContain("expected truncated or paused");
	});

	it.each(["", "teapot", "4x9 no"])("refuses %j as an error", (payload) => {
		expect(failureOf(`# one\nerror: ${payload}`)).toEqual(
			providerFailure("Invalid echo error at line 2: expected an HTTP code, connection, timeout, refused or transient"),
		);
	});

	it.each([
		["just text", "'just text'"],
		["  padded  ", "'  padded  '"],
		["it's", `"it's"`],
		[`it's "so"`, `'it\\'s "so"'`],
		["a\tb\\c", "'a\\tb\\\\c'"],
		["é\u00a0\u200b\u{e0001}😀", "'é\\xa0\\u200b\\U000e0001😀'"],
	])("quotes the line %j as Python does", (line, quoted) => {
		expect(failureOf(`text: x\n\n${line}`)).toEqual(providerFailure(`Invalid echo DSL at line 3: ${quoted}`));
	});

	it("names an unknown kind", () => {
		expect(failureOf("text: x\n Dance : now")).toEqual(
			providerFailure("Unknown echo DSL kind 'dance' at line 2: ' Dance : now'"),
		);
	});

	it.each(["", "# nothing", "id: a\nusage: output=1"])("refuses a script without parts: %j", (script) => {
		expect(failureOf(script)).toEqual(providerFailure("ScriptedEchoChatProvider DSL produced no streamable parts."));
	});

	it("reports the first of several faults", () => {
		expect(failureOf("error: 500\nnonsense").kind).toBe("status");
		expect(failureOf("nonsense\nerror: 500").kind).toBe("provider");
	});
});
