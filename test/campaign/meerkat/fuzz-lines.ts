// The vocabulary of Meerkat RPC for the fuzz campaign: its methods with params good and bad, ids of every kind, and traffic
// of real clients. The ids of sessions are filled in when a line is sent.
import fc from "fast-check";
import { anyValue, bent, choose, largeSize, sometimes, texts, type Vocabulary } from "../frame/hostile-lines.ts";
import { methods as knownMethods } from "./fuzz-oracle.ts";

/** Methods that exist, nearly exist, and do not exist. */
const methods = choose(
	...knownMethods,
	...["initialized", "session/resume", "Session/create", "turn/start ", "session/", "/", "prompt", "cancel", ""],
	...["__proto__", "constructor", "toString", "\u2028", "\ud800", "é".repeat(300)],
);

const oddIds = choose(
	...["9007199254740993", "-9007199254740993", "9223372036854775807", "-9223372036854775808", "0", "-1"],
	...["9223372036854775808", "-9223372036854775809", "123456789012345678901234567890", "1.5", "1.0", "1e3", "-0"],
	...["null", "true", "false", "[]", "{}", '[1,{"id":2}]', '{"id":3}'],
	...['""', '"1"', '"\\u2028"', '"\u2028\u2029"', '"\\ud800"', '"\\"id\\":5"', '"é👩‍💻"', `"${"x".repeat(2000)}"`],
);

/** Ids that seldom come twice. */
const count = fc.nat({ max: 1_000_000 });
const ids = fc.oneof(
	{ weight: 3, arbitrary: count.map(String) },
	{ weight: 3, arbitrary: count.map((number) => `"s${number}"`) },
	{ weight: 3, arbitrary: count.map((number) => String(2n ** 62n + BigInt(number))) },
	{ weight: 3, arbitrary: oddIds },
);

const sessionMark = /<session (\d+) (\w+)>/g;
const spellings = ["plain", "upper", "bare", "braced", "urn", "upperurn", "halfbraced", "blank"] as const;

/** Fills in the marks of sessions, the latest first; a mark stays where no session is known. */
export function withSessions(line: Buffer, known: readonly string[]): Buffer {
	const text = line.toString("latin1");
	if (!text.includes("<session ") || known.length === 0) return line;
	const complete = text.replace(sessionMark, (mark, number: string, spelling: string) => {
		const id = known[Number(number) % known.length];
		return id === undefined ? mark : spell(id, spelling);
	});
	return Buffer.from(complete, "latin1");
}

function spell(id: string, spelling: string): string {
	switch (spelling) {
		case "upper":
			return id.toUpperCase();
		case "bare":
			return id.replaceAll("-", "");
		case "braced":
			return `{${id}}`;
		case "urn":
			return `urn:uuid:${id}`;
		case "upperurn":
			return `URN:UUID:${id}`;
		case "halfbraced":
			return `{${id}`;
		case "blank":
			return ` ${id}`;
		default:
			return id;
	}
}

/** The id of a session in one of its spellings, or something else. */
const sessionId = fc.oneof(
	{ weight: 12, arbitrary: fc.nat({ max: 11 }).map((number) => `<session ${number} plain>`) },
	{
		weight: 3,
		arbitrary: fc.tuple(fc.nat({ max: 11 }), choose(...spellings)).map(([number, how]) => `<session ${number} ${how}>`),
	},
	{
		weight: 4,
		arbitrary: choose(
			...["01936f8a-7b2c-7000-8000-000000000001", "01936f8a-7b2c-7000-8000-000000000001", "../../etc/passwd", ".."],
			...["00000000-0000-0000-0000-000000000000", "01936F8A7B2C70008000000000000001"],
			...["01936f8a-7b2c-7000-8000-00000000000", "01936f8a7b2c-7000-8000-000000000001", "", "zz", "{}", "urn:uuid:"],
			"01936f8a-7b2c-7000-8000-000000000001\n",
		),
	},
	{ weight: 1, arbitrary: anyValue(1) },
);

const tool = bent({
	name: choose("paint", "Shell", "", "a b", "__proto__", "x".repeat(200)),
	description: texts,
	input_schema: choose<unknown>(
		...[{}, { type: "object", properties: { a: { type: "string" } } }, { type: "wrong" }, { $ref: "#/nowhere" }],
		...[{ $ref: "#" }, { pattern: "(" }],
	),
});

const anyText: fc.Arbitrary<unknown> = fc.oneof(
	{ weight: 5, arbitrary: texts },
	{ weight: 1, arbitrary: choose(null) },
);

const config = bent({
	agent: bent({
		system_prompt: sometimes(30, anyText),
		model: sometimes(30, choose<unknown>(null, null, null, "m", "scripted", "nobody", "\ud800")),
		max_tokens_per_turn: sometimes(30, choose<unknown>(1, 16_384, 0, 1.5, "5", null)),
		max_turns: sometimes(30, choose<unknown>(1, 100, null, -1)),
	}),
	max_tokens: sometimes(30, choose<unknown>(1, 20_000, null, "x")),
	limits: sometimes(30, choose<unknown>({ budget: 5 })),
});

const inEnvelope = (name: string) =>
	fc.oneof({ weight: 9, arbitrary: config }, { weight: 1, arbitrary: config.map((value) => ({ [name]: value })) });

const creation = bent({
	prompt: texts,
	model: sometimes(30, choose<unknown>("m", "scripted", "gpt-5.2", "claude-sonnet-4-5", "nobody", "", null)),
	provider: sometimes(30, choose<unknown>("p", "scripted", "openai", "anthropic", "", "__proto__", null)),
	max_tokens: sometimes(30, choose<unknown>(0, 1, 4_294_967_295, null)),
	system_prompt: sometimes(30, anyText),
	enable_builtins: sometimes(30, choose<unknown>(true, false, null)),
	enable_shell: sometimes(30, choose<unknown>(true, false, null)),
	budget_limits: sometimes(30, choose<unknown>({ max_tokens: 1_000_000 }, { max_tool_calls: 50 }, {}, null, 5)),
	turn_budget_limits: sometimes(
		30,
		choose<unknown>({ max_duration: "90s" }, { max_tokens: "x" }, { max_tool_calls: -1 }),
	),
	initial_turn: sometimes(30, choose<unknown>("deferred", "deferred", "run_immediately", null, "later")),
});

const handshake = choose<unknown>(
	{ requests: ["approval/request", 5, "question/request", "no/such"], tools: [{ name: "paint" }] },
	{ requests: "approval/request", tools: {} },
	{ client: { name: "c" }, protocol_version: "1.7" },
	{},
);

const call = (weight: number, method: string, params: fc.Arbitrary<unknown>) => ({
	weight,
	arbitrary: fc
		.oneof({ weight: 92, arbitrary: params }, { weight: 6, arbitrary: anyValue(1) }, { weight: 8, arbitrary: absent })
		.map((given) => ({ method, params: given })),
});
const absent = fc.constant<unknown>(undefined);
const onSession = bent({ session_id: sessionId });

const calls = fc.oneof(
	call(3, "initialize", handshake),
	call(3, "capabilities/get", choose<unknown>({}, [], 1)),
	call(3, "tools/register", bent({ tools: fc.array(tool, { maxLength: 2 }) })),
	call(9, "session/create", creation),
	call(3, "session/list", choose<unknown>({ limit: 1 }, { limit: 0, offset: -1 }, { offset: 1e9 }, [], {})),
	call(12, "turn/start", bent({ session_id: sessionId, prompt: texts })),
	call(
		3,
		"session/history",
		bent({
			session_id: sessionId,
			offset: sometimes(30, choose(0, 1, 1e9, -1, 1.5)),
			limit: sometimes(30, choose<unknown>(0, 1, null, -1)),
		}),
	),
	call(5, "session/read", onSession),
	call(3, "session/archive", onSession),
	call(6, "turn/interrupt", onSession),
	call(3, "config/get", choose<unknown>({}, null)),
	call(3, "config/set", inEnvelope("config")),
	call(3, "config/patch", inEnvelope("patch")),
	{ weight: 9, arbitrary: fc.tuple(methods, anyValue(1)).map(([method, params]) => ({ method, params })) },
);

const create = '{"jsonrpc":"2.0","id":"c","method":"session/create","params":';

export const meerkatVocabulary: Vocabulary = {
	methods,
	calls,
	ids,
	oddIds,
	strayAnswers: ['"result":{"decision":"approve"}', '"result":null', '"error":{"code":1,"message":"m"}'],
	traffic: [
		'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}',
		'{"jsonrpc":"2.0","id":2,"method":"session/create","params":{"prompt":"Look at this: é ü 漢字 👩‍💻","max_tokens":4096}}',
		'{"jsonrpc":"2.0","id":3,"method":"turn/start","params":{"session_id":"<session 0 plain>","prompt":"go on"}}',
		'{"jsonrpc":"2.0","id":4,"method":"session/list","params":{"limit":20}}',
		'{"jsonrpc":"2.0","id":"5","method":"turn/interrupt","params":{"session_id":"<session 0 plain>"}}',
		'{"jsonrpc":"2.0","method":"initialized"}',
	],
	frames: [
		[create, "}"],
		[`${create}{"prompt":`, "}}"],
		['{"jsonrpc":"2.0","id":', ',"method":"config/get"}'],
		['{"jsonrpc":"2.0","id":"a","method":', "}"],
		['{"jsonrpc":', ',"id":"a","method":"config/get"}'],
	],
	deepFrames: [
		['{"jsonrpc":"2.0","id":"a","method":"config/patch","params":{"limits":', "}}"],
		[
			'{"jsonrpc":"2.0","id":"a","method":"tools/register","params":{"tools":[{"name":"t","input_schema":{"x":',
			"}}]}}",
		],
		[`${create}{"prompt":"x","initial_turn":"deferred","more":`, "}}"],
	],
};

/** Three million bytes that are taken. */
export const meerkatLargeLines: readonly (() => Buffer)[] = [
	() => {
		const params = { prompt: "é\u2028".repeat(largeSize / 5), initial_turn: "deferred" };
		return Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: "large", method: "session/create", params }));
	},
];
