// The vocabulary of Kimi Wire and legacy for the fuzz campaign: their methods with params good and bad, and traffic of
// real clients.
import fc from "fast-check";
import {
	anyValue,
	bent,
	choose,
	largeSize,
	sometimes,
	texts,
	type Vocabulary,
	withoutAbsent,
} from "../frame/hostile-lines.ts";

const methods = choose(
	...["initialize", "prompt", "steer", "replay", "set_plan_mode", "cancel", "run", "interrupt", "event", "request"],
	...["", "session/create", "__proto__", "constructor", "toString", "Prompt", "prompt ", "\u2028", "\ud800"],
	"é".repeat(50),
);

const goodIds = choose('"a"', '"b"', '"c"', '""');
const oddIds = choose(
	...['"a"', '"b"', '"c"', '""', '"1"', '"\\ud800"', "null", "1", "0", "-1", "1.5", "true", "false", "[]", "{}"],
	`"${"x".repeat(200)}"`,
);

/** What may be a yes or no, leniently read. */
const yesOrNo = fc.oneof(
	{
		weight: 3,
		arbitrary: choose<unknown>(
			...[true, false, 1, 0],
			...["1", "true", "True", "TRUE", "t", "yes", "on", "off", "F", "n", "tRUE", "ON"],
		),
	},
	{ weight: 1, arbitrary: choose<unknown>("maybe", "", 2, -1, 30.5, null, [], {}, " on", "true\n") },
);

const part = fc.oneof(
	texts.map((text) => ({ type: "text", text })),
	fc.tuple(texts, anyValue(1)).map(([text, extra]) => ({ type: "text", text, extra })),
	choose<unknown>(null, "x", undefined, 1).map((encrypted) => ({ type: "think", think: "hm", encrypted })),
	choose<unknown>({ url: "data:," }, { url: "u", id: null }, "u", [], null).map((url) => ({
		type: "image_url",
		image_url: url,
	})),
	choose<unknown>("i", null, 1).map((id) => ({ type: "audio_url", audio_url: { url: "data:,", id } })),
	choose<unknown>("input_text", "", null, "__proto__", 1).map((type) => ({ type, text: "x" })),
	anyValue(2),
);

const input: fc.Arbitrary<unknown> = fc.oneof(
	// A side question with nothing to ask: answered at once, whatever runs.
	{ weight: 5, arbitrary: choose<unknown>("/btw", " /btw\n", [{ type: "text", text: "/btw" }]) },
	{ weight: 30, arbitrary: texts },
	{ weight: 15, arbitrary: anyValue(2) },
	{ weight: 50, arbitrary: fc.array(part, { maxLength: 2 }) },
);

const tool = bent({
	name: choose("T", "Touch", "", "T"),
	description: texts,
	parameters: choose<unknown>(
		...[
			{},
			{ type: "object" },
			{ type: "wrong" },
			{ $ref: "#/nowhere" },
			[],
			null,
			"x",
			{ pattern: "(" },
			{ $ref: "#" },
		],
		{ properties: { a: { type: ["string", "null"] } } },
	),
});

/** A subscription to hooks. They are requested only while turns run, which end however the hook is answered. */
const hook = bent({
	id: choose("h", "", "h"),
	event: choose<unknown>(
		...[
			"PreToolUse",
			"PostToolUse",
			"SessionEnd",
			"Stop",
			"UserPromptSubmit",
			"Unheard",
			"",
			"__proto__",
			"constructor",
		],
		...[null, 1],
	),
	matcher: sometimes(50, choose<unknown>("", "Touch", "(", "^x", "[", null, 1)),
	timeout: sometimes(50, choose<unknown>(30, 0, -5, "30", " +7 ", "1.5", 30.5, 1e308, 1e21, "", null, true, "x")),
});

const capabilities = fc.oneof(
	choose<unknown>(null, {}, [], 1, { supports_question: "true", supports_plan_mode: 0 }),
	fc.tuple(sometimes(70, yesOrNo), sometimes(70, yesOrNo), sometimes(10, anyValue(1))).map(([question, plan, more]) =>
		withoutAbsent([
			["supports_question", question],
			["supports_plan_mode", plan],
			["more", more],
		]),
	),
);

const client = choose<unknown>(
	...[null, { name: "c" }, { name: "c", version: "1" }, { name: "c", version: null }, { name: 1 }, [], "c"],
);

const handshake = bent({
	protocol_version: choose<unknown>("1.7", "1.10", "1.10", "", 1.7, null),
	client: sometimes(40, client),
	external_tools: sometimes(30, fc.array(tool, { maxLength: 2 })),
	capabilities: sometimes(50, capabilities),
	hooks: sometimes(35, fc.oneof(choose<unknown>(null, {}, "", 1, [null], [[]]), fc.array(hook, { maxLength: 2 }))),
});

const call = (method: string, params: fc.Arbitrary<unknown>) =>
	sometimes(90, params).map((given) => ({ method, params: given }));

const calls = fc.oneof(
	call("initialize", fc.oneof({ weight: 6, arbitrary: handshake }, { weight: 1, arbitrary: anyValue(2) })),
	call("prompt", bent({ user_input: input })),
	call("steer", bent({ user_input: input })),
	call("set_plan_mode", bent({ enabled: yesOrNo })),
	call("run", bent({ input: choose<unknown>("hi", "a", 1), prompt: sometimes(50, choose<unknown>("hi", 1)) })),
	call("interrupt", choose<unknown>({}, [], "x", 1, null)),
	call("cancel", choose<unknown>({}, [], "x", 1, null)),
	call("replay", choose<unknown>({}, [], "x", 1, null)),
	fc.tuple(methods, anyValue(2)).map(([method, params]) => ({ method, params })),
);

const traffic: readonly string[] = [
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

const prompt = '{"jsonrpc":"2.0","id":"a","method":"prompt","params":{"user_input":';
const cancel = '{"jsonrpc":"2.0","id":"a","method":"cancel","params":';
const initialize = '{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocol_version":"1"';

export const wireVocabulary: Vocabulary = {
	methods,
	calls,
	ids: goodIds,
	oddIds,
	strayAnswers: ['"result":{"response":"approve"}', '"result":null', '"error":{"code":1,"message":"m"}', '"result":{}'],
	traffic,
	frames: [
		[cancel, "}"],
		[prompt, "}}"],
		['{"jsonrpc":"2.0","id":', ',"method":"steer"}'],
		['{"jsonrpc":"2.0","id":"a","method":', "}"],
		['{"jsonrpc":', ',"id":"a","method":"cancel"}'],
	],
	deepFrames: [
		[cancel, "}"],
		[`${prompt}[`, "]}}"],
		[`${prompt}[{"type":"text","text":"x","more":`, "}]}}"],
		[`${initialize},"external_tools":[{"name":"Deep","description":"","parameters":{"properties":`, "}}]}}"],
		[`${initialize},"client":`, "}}"],
	],
};

const large = (method: string, userInput: () => unknown) => (): Buffer =>
	Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: "a", method, params: { user_input: userInput() } }));

/** About three million bytes, good and bad. */
export const wireLargeLines: readonly (() => Buffer)[] = [
	large("steer", () => "é\u2028".repeat(largeSize / 5)),
	large("prompt", () => [{ type: "nope", text: "y".repeat(largeSize) }]),
	() => Buffer.from(`${cancel}[${"0,".repeat(largeSize / 2)}0]}`),
];
