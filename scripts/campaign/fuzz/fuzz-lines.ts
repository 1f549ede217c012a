// The lines of the fuzz campaign: bytes, JSON, envelopes, params and damaged real traffic, from a seed.

import type { Random } from "../random.ts";
import { type JsonCase, jsonCases, nested } from "./fuzz-json.ts";

/** A line; `isJson` is known for cases that stand alone. */
export interface FuzzLine {
	/** Without its newline, but a random one may hold newlines: then it is several lines. */
	readonly bytes: Buffer;
	readonly isJson: boolean | null;
}

type Maker = (random: Random) => FuzzLine;
type Choice<T> = readonly [T, ...T[]];

const line = (text: string): FuzzLine => ({ bytes: Buffer.from(text), isJson: null });
const toLine = (value: unknown): FuzzLine => line(JSON.stringify(value));

const methods: Choice<string> = [
	"initialize",
	"prompt",
	"steer",
	"replay",
	"set_plan_mode",
	"cancel",
	"run",
	"interrupt",
	"event",
	"request",
	"",
	"session/create",
	"__proto__",
	"constructor",
	"toString",
	"Prompt",
	"prompt ",
	"\u2028",
	"\ud800",
	"é".repeat(50),
];
const texts: Choice<string> = [
	"",
	"a",
	"hello",
	"2.0",
	"1.7",
	"\u2028\u2029",
	"\ud83d",
	"0",
	"true",
	"x".repeat(300),
	"text: hi",
	"\u0000",
];
const ids: Choice<unknown> = [
	"a",
	"b",
	"c",
	"",
	"a",
	"1",
	"\ud800",
	null,
	1,
	0,
	-1,
	1.5,
	true,
	false,
	[],
	{},
	"x".repeat(200),
];

const hookNames: Choice<unknown> = [
	"PreToolUse",
	"PostToolUse",
	"SessionEnd",
	"Stop",
	"UserPromptSubmit",
	"Unheard",
	"",
	"__proto__",
	"constructor",
	null,
	1,
];
const choices: Choice<unknown> = [
	true,
	false,
	1,
	0,
	"1",
	"true",
	"True",
	"TRUE",
	"t",
	"yes",
	"on",
	"off",
	"F",
	"n",
	"tRUE",
	"ON",
];
const noChoices: Choice<unknown> = ["maybe", "", 2, -1, 30.5, null, [], {}, " on", "true\n"];

/** What may be a yes or no, leniently read. */
function choice(random: Random): unknown {
	return random.chance(75) ? random.pick(choices) : random.pick(noChoices);
}

function anyValue(random: Random, depth: number): unknown {
	switch (random.below(depth > 0 ? 9 : 6)) {
		case 0:
			return null;
		case 1:
			return random.chance(50);
		case 2:
			return random.pick([0, 1, -1, 1.5, 1e308, -32000, 9_007_199_254_740_992, 5e-324]);
		case 3:
		case 4:
		case 5:
			return random.pick(texts);
		case 6:
		case 7:
			return Array.from({ length: random.below(4) }, () => anyValue(random, depth - 1));
		default:
			return anyObject(random, depth);
	}
}

const keys: Choice<string> = [
	"a",
	"id",
	"method",
	"params",
	"result",
	"error",
	"jsonrpc",
	"type",
	"text",
	"user_input",
	"code",
	"message",
	"__proto__",
	"",
	"constructor",
	"url",
];

function anyObject(random: Random, depth: number): unknown {
	const entries = Array.from({ length: random.below(4) }, () => [random.pick(keys), anyValue(random, depth - 1)]);
	return Object.fromEntries(entries);
}

function part(random: Random): unknown {
	return random.pick<() => unknown>([
		() => ({ type: "text", text: random.pick(texts) }),
		() => ({ type: "text", text: random.pick(texts), extra: anyValue(random, 1) }),
		() => ({ type: "think", think: "hm", encrypted: random.pick<unknown>([null, "x", undefined, 1]) }),
		() => ({
			type: "image_url",
			image_url: random.pick<unknown>([{ url: "data:," }, { url: "u", id: null }, "u", [], null]),
		}),
		() => ({ type: "audio_url", audio_url: { url: "data:,", id: random.pick<unknown>(["i", null, 1]) } }),
		() => ({ type: random.pick<unknown>(["input_text", "", null, "__proto__", 1]), text: "x" }),
		() => anyValue(random, 2),
	])();
}

function input(random: Random): unknown {
	// A question beside the conversation, with nothing to ask: answered at once, whatever runs.
	if (random.chance(5)) return random.pick<unknown>(["/btw", " /btw\n", [{ type: "text", text: "/btw" }]]);
	if (random.chance(30)) return random.pick(texts);
	if (random.chance(20)) return anyValue(random, 2);
	return Array.from({ length: random.below(3) }, () => part(random));
}

function tool(random: Random): unknown {
	const parameters = random.pick<unknown>([
		{},
		{ type: "object" },
		{ type: "wrong" },
		{ $ref: "#/nowhere" },
		[],
		null,
		"x",
		{ properties: { a: { type: ["string", "null"] } } },
		{ pattern: "(" },
		{ $ref: "#" },
	]);
	const whole = { name: random.pick(["T", "Touch", "", "T"]), description: random.pick(texts), parameters };
	return random.chance(15) ? anyValue(random, 2) : whole;
}

/** A subscription to hooks. They are asked only while turns run, which end however the hook is answered. */
function hook(random: Random): unknown {
	if (random.chance(15)) return anyValue(random, 2);
	const whole: Record<string, unknown> = { id: random.pick(["h", "", "h"]), event: random.pick(hookNames) };
	if (random.chance(50)) whole["matcher"] = random.pick<unknown>(["", "Touch", "(", "^x", "[", null, 1]);
	if (random.chance(50)) {
		whole["timeout"] = random.pick<unknown>([30, 0, -5, "30", " +7 ", "1.5", 30.5, 1e308, 1e21, "", null, true, "x"]);
	}
	if (random.chance(10)) whole["more"] = anyValue(random, 1);
	if (random.chance(5)) delete whole[random.pick(["id", "event"])];
	return whole;
}

function handshake(random: Random): unknown {
	const params: Record<string, unknown> = {};
	if (random.chance(90)) params["protocol_version"] = random.pick<unknown>(["1.7", "1.10", "", 1.7, null]);
	if (random.chance(40))
		params["client"] = random.pick<unknown>([
			null,
			{ name: "c" },
			{ name: "c", version: "1" },
			{ name: "c", version: null },
			{ name: 1 },
			[],
			"c",
		]);
	if (random.chance(30)) {
		params["external_tools"] = random.chance(20)
			? anyValue(random, 1)
			: Array.from({ length: random.below(3) }, () => tool(random));
	}
	if (random.chance(40)) {
		params["capabilities"] = random.pick<unknown>([
			null,
			{},
			[],
			1,
			{ supports_question: true },
			{ supports_question: "true", supports_plan_mode: 0 },
			{ supports_question: "maybe" },
			{ supports_plan_mode: null },
			{ supports_plan_mode: 30.5 },
		]);
	}
	if (random.chance(30)) {
		params["capabilities"] = {
			...(random.chance(70) ? { supports_question: choice(random) } : {}),
			...(random.chance(70) ? { supports_plan_mode: choice(random) } : {}),
			...(random.chance(10) ? { more: anyValue(random, 1) } : {}),
		};
	}
	if (random.chance(35)) {
		params["hooks"] = random.chance(20)
			? random.pick<unknown>([null, {}, "", 1, [null], [[]]])
			: Array.from({ length: random.below(3) }, () => hook(random));
	}
	if (random.chance(20)) params["unknown"] = anyValue(random, 1);
	return params;
}

function paramsOf(method: string, random: Random): unknown {
	if (random.chance(15)) return anyValue(random, 2);
	switch (method) {
		case "initialize":
			return handshake(random);
		case "prompt":
		case "steer":
			return { user_input: input(random), ...(random.chance(10) ? { more: 1 } : {}) };
		case "set_plan_mode":
			return random.chance(10) ? {} : { enabled: choice(random), ...(random.chance(10) ? { more: 1 } : {}) };
		case "run":
			return random.pick<unknown>([
				{ input: "hi" },
				{ prompt: "hi" },
				{ input: 1, prompt: "hi" },
				{ input: 1 },
				{},
				{ input: "a", prompt: 1 },
			]);
		default:
			return random.pick<unknown>([{}, [], "x", 1, null]);
	}
}

const request: Maker = (random) => {
	const method = random.pick(methods);
	const whole: Record<string, unknown> = { jsonrpc: "2.0", id: random.pick(["a", "b", "c", ""]), method };
	if (random.chance(85)) whole["params"] = paramsOf(method, random);
	return toLine(whole);
};

const envelope: Maker = (random) => {
	const whole: Record<string, unknown> = {};
	if (random.chance(80))
		whole["jsonrpc"] = random.pick<unknown>(["2.0", "2.0", "2.0", "2.0", null, 2, "2.1", "", "2.0 "]);
	if (random.chance(80)) whole["id"] = random.chance(60) ? random.pick(["a", "b"]) : random.pick(ids);
	if (random.chance(60)) whole["method"] = random.chance(85) ? random.pick(methods) : anyValue(random, 1);
	if (random.chance(30)) whole["params"] = anyValue(random, 2);
	if (random.chance(25)) whole["result"] = anyValue(random, 2);
	if (random.chance(25)) {
		whole["error"] = random.chance(50)
			? {
					code: random.pick<unknown>([-32000, 1, "5", "-7", "x", 1.5, null]),
					message: random.pick<unknown>(["m", "", 1, null]),
					data: anyValue(random, 1),
				}
			: anyValue(random, 2);
	}
	if (random.chance(10)) whole[random.pick(keys)] ??= anyValue(random, 1);
	return toLine(whole);
};

/** A case of the collections in the place of a value. */
const spliced: Maker = (random) => {
	const { bytes } = random.pick(jsonCases as Choice<JsonCase>);
	const [before, after] = random.pick<readonly [string, string]>([
		['{"jsonrpc":"2.0","id":"a","method":"cancel","params":', "}"],
		['{"jsonrpc":"2.0","id":"a","method":"prompt","params":{"user_input":', "}}"],
		['{"jsonrpc":"2.0","id":', ',"method":"steer"}'],
		['{"jsonrpc":"2.0","id":"a","method":', "}"],
		['{"jsonrpc":', ',"id":"a","method":"cancel"}'],
		['{"id":"zz","result":', "}"],
		['{"id":"zz","error":{"code":', ',"message":"m"}}'],
		["[", "]"],
		['{"a":', "}"],
	]);
	return { bytes: Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)]), isJson: null };
};

const traffic: Choice<string> = [
	'{"jsonrpc":"2.0","id":"1_1700000000000","method":"initialize","params":{"protocol_version":"1.7","client":{"name":"node-sdk","version":"0.1.8"},"external_tools":[{"name":"open_file","description":"Opens it.","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}],"capabilities":{"supports_question":true,"supports_plan_mode":true}}}',
	'{"jsonrpc":"2.0","id":"2_1700000000001","method":"prompt","params":{"user_input":[{"type":"text","text":"Look at this, please: é ü 漢字 👩‍💻"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo=","id":null}}]}}',
	'{"jsonrpc":"2.0","id":"3","method":"steer","params":{"user_input":"rather the other way"}}',
	'{"jsonrpc":"2.0","id":"4","method":"set_plan_mode","params":{"enabled":true}}',
	'{"jsonrpc":"2.0","id":"5","method":"replay"}',
	'{"jsonrpc":"2.0","id":"6","method":"cancel","params":{}}',
	'{"jsonrpc":"2.0","id":"0b0e8f3e-4b43-4a7e-9a0e-3a7c4a0b6b55","result":{"request_id":"0b0e8f3e-4b43-4a7e-9a0e-3a7c4a0b6b55","response":"approve_for_session"}}',
	'{"jsonrpc":"2.0","id":"call_1","result":{"tool_call_id":"call_1","return_value":{"is_error":false,"output":[{"type":"text","text":"fine"}],"message":"","display":[]}}}',
	'{"jsonrpc":"2.0","id":"a1b2c3d4e5f6","result":{"request_id":"a1b2c3d4e5f6","action":"block","reason":"not like this"}}',
	'{"jsonrpc":"2.0","id":"7d9e","result":{"request_id":"7d9e","answers":{"Which DB?":"pg","More?":"a, b"}}}',
	'{"jsonrpc":"2.0","id":"8","method":"initialize","params":{"protocol_version":"1.10","capabilities":{"supports_question":true,"supports_plan_mode":"on"},"hooks":[{"id":"s1","event":"PreToolUse","matcher":"Shell","timeout":5}]}}',
	'{"jsonrpc":"2.0","id":"call_1","error":{"code":-32603,"message":"it broke","data":null}}',
	'{"jsonrpc":"2.0","method":"event","params":{"type":"ApprovalRequestResolved","payload":{"request_id":"x","response":"approve"}}}',
	'{"jsonrpc":"2.0","id":"r1","method":"run","params":{"input":"fix the tests"}}',
	'{"jsonrpc":"2.0","id":"r2","method":"interrupt"}',
];

/** Real traffic cut, joined, flipped or repeated. */
const damaged: Maker = (random) => {
	const first = Buffer.from(random.pick(traffic));
	const second = Buffer.from(random.pick(traffic));
	switch (random.below(5)) {
		case 0:
			return { bytes: first.subarray(0, random.below(first.length + 1)), isJson: null };
		case 1:
			return {
				bytes: Buffer.concat([
					first.subarray(0, random.below(first.length)),
					second.subarray(random.below(second.length)),
				]),
				isJson: null,
			};
		case 2: {
			const flipped = Buffer.from(first);
			for (let count = 1 + random.below(3); count > 0; count -= 1)
				flipped[random.below(flipped.length)] = random.below(256);
			return { bytes: flipped, isJson: null };
		}
		case 3:
			return { bytes: Buffer.concat([first, second]), isJson: null };
		default:
			return { bytes: Buffer.from(`${first.toString()}\r`), isJson: null };
	}
};

const noise: Maker = (random) => {
	const bytes = Buffer.alloc(random.below(80));
	for (let index = 0; index < bytes.length; index += 1) bytes[index] = random.below(256);
	return { bytes, isJson: null };
};

/** Nesting, alone and where a value is kept, checked or passed on. */
const deep: Maker = (random) => {
	const depth = random.pick([10, 100, 1000, 5000, 20_000, 100_000]);
	const found = nested(depth, random.pick(["array", "object"]), random.chance(80));
	const [before, after] = random.pick<readonly [string, string]>([
		["", ""],
		['{"jsonrpc":"2.0","id":"a","method":"cancel","params":', "}"],
		['{"jsonrpc":"2.0","id":"a","method":"prompt","params":{"user_input":[', "]}}"],
		['{"jsonrpc":"2.0","id":"a","method":"prompt","params":{"user_input":[{"type":"text","text":"x","more":', "}]}}"],
		[
			'{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocol_version":"1","external_tools":[{"name":"Deep","description":"","parameters":{"properties":',
			"}}]}}",
		],
		['{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocol_version":"1","client":', "}}"],
		['{"jsonrpc":"2.0","id":"zz","result":', "}"],
	]);
	const bytes = Buffer.concat([Buffer.from(before), found.bytes, Buffer.from(after)]);
	return { bytes, isJson: before === "" ? found.isJson : null };
};

/** About three million bytes, good and bad. */
export function largeLine(random: Random): FuzzLine {
	const size = 3_000_000;
	return random.pick<() => FuzzLine>([
		() => line("x".repeat(size)),
		() => toLine({ jsonrpc: "2.0", id: "a", method: "m".repeat(size) }),
		() => toLine({ jsonrpc: "2.0", id: "a", method: "steer", params: { user_input: "é\u2028".repeat(size / 5) } }),
		() => toLine({ jsonrpc: "2.0", id: "a", method: "cancel", params: Array.from({ length: size / 2 }, () => 0) }),
		() =>
			toLine({
				jsonrpc: "2.0",
				id: "a",
				method: "prompt",
				params: { user_input: [{ type: "nope", text: "y".repeat(size) }] },
			}),
		() => line(" ".repeat(size)),
	])();
}

const availability: Maker = (random) => random.pick(jsonCases as Choice<JsonCase>);
const value: Maker = (random) => toLine(anyValue(random, 4));

const makers: Choice<Maker> = [
	noise,
	availability,
	availability,
	spliced,
	spliced,
	value,
	envelope,
	envelope,
	envelope,
	envelope,
	request,
	request,
	request,
	request,
	damaged,
	damaged,
];

/** The next line; now and then a deep one. */
export function fuzzLine(random: Random): FuzzLine {
	return random.below(2000) === 0 ? deep(random) : random.pick(makers)(random);
}
