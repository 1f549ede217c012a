// The lines of the fuzz campaign for Meerkat RPC: its methods with params good and bad, ids of every kind, damaged
// traffic, and whatever else a line may be, from a seed.
import { type FuzzLine, fuzzLine } from "../fuzz/fuzz-lines.ts";
import type { Random } from "../random.ts";
import { methods } from "./fuzz-oracle.ts";

type Choice<T> = readonly [T, ...T[]];

const line = (text: string): FuzzLine => ({ bytes: Buffer.from(text), isJson: null });

/** Methods that are there, nearly there, and not there at all. */
const methodNames: Choice<string> = [
	"initialized",
	...methods,
	...methods,
	...methods,
	...["session/create", "session/create", "turn/start", "turn/start", "turn/start", "turn/interrupt"],
	...["session/create", "session/create", "turn/start", "turn/start", "turn/start", "session/read"],
	"session/resume",
	"Session/create",
	"turn/start ",
	"session/",
	"/",
	"prompt",
	"cancel",
	"",
	"__proto__",
	"constructor",
	"toString",
	"\u2028",
	"\ud800",
	"é".repeat(300),
];

/** Ids as JSON text: every kind that is one, and every kind that is none. */
const oddIds: Choice<string> = [
	...(["9007199254740993", "-9007199254740993", "9223372036854775807", "-9223372036854775808", "0", "-1"] as const),
	...["9223372036854775808", "-9223372036854775809", "123456789012345678901234567890", "1.5", "1.0", "1e3", "-0"],
	...["null", "true", "false", "[]", "{}", '[1,{"id":2}]', '{"id":3}'],
	...['""', '"1"', '"\\u2028"', '"\u2028\u2029"', '"\\ud800"', '"\\"id\\":5"', '"é👩‍💻"', `"${"x".repeat(2000)}"`],
];

const texts: Choice<string> = [
	"",
	"hello",
	"\u2028\u2029",
	"\ud83d",
	"\u0000",
	"2.0",
	"x".repeat(300),
	"</s> {}",
	"é\r",
];

const values: Choice<unknown> = [
	null,
	...[true, false, 0, 1, -1, 1.5, 4_294_967_295, 4_294_967_296, 1e308, "", "a", "deferred", "\ud800"],
	...[[], {}, [1], ["Hello"], { a: null }, { prompt: "x" }, [[]]],
];

const others: Choice<string> = [
	"01936f8a-7b2c-7000-8000-000000000001",
	"00000000-0000-0000-0000-000000000000",
	"01936f8a-7b2c-7000-8000-00000000000",
	"01936f8a7b2c-7000-8000-000000000001",
	"../../etc/passwd",
	"..",
	"",
	"zz",
	"{}",
	"urn:uuid:",
	"01936f8a-7b2c-7000-8000-000000000001\n",
];

/** A session's id in one of its spellings, or something else. */
function sessionId(random: Random, ids: readonly string[]): unknown {
	const known = ids[random.below(ids.length)];
	if (known === undefined || random.chance(25)) return random.chance(80) ? random.pick(others) : random.pick(values);
	if (random.chance(80)) return known;
	return random.pick([
		known.toUpperCase(),
		known.replaceAll("-", ""),
		`{${known}}`,
		`urn:uuid:${known}`,
		`URN:UUID:${known}`,
		`{${known}`,
		` ${known}`,
	]);
}

/** The fields, each now and then missing or of another kind. */
function mutated(random: Random, fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
	const result: Record<string, unknown> = {};
	for (const [key, value] of Object.entries(fields)) {
		if (random.chance(4)) continue;
		result[key] = random.chance(4) ? random.pick(values) : value;
	}
	if (random.chance(8)) result[random.pick(["more", "id", "method", "constructor"])] = random.pick(values);
	return result;
}

/** Some of the fields. */
function some(random: Random, fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
	return Object.fromEntries(Object.entries(fields).filter(() => random.chance(30)));
}

function tool(random: Random): unknown {
	const schema = random.pick<unknown>([
		{},
		{ type: "object", properties: { a: { type: "string" } } },
		{ type: "wrong" },
		{ $ref: "#/nowhere" },
		{ $ref: "#" },
		{ pattern: "(" },
	]);
	const name = random.pick(["paint", "Shell", "", "a b", "__proto__", "x".repeat(200)]);
	return mutated(random, { name, description: random.pick(texts), input_schema: schema });
}

function agentConfig(random: Random): unknown {
	return some(random, {
		system_prompt: random.pick<unknown>([...texts, null]),
		model: random.pick<unknown>([null, null, null, "m", "scripted", "nobody", "\ud800"]),
		max_tokens_per_turn: random.pick<unknown>([1, 16_384, 0, 1.5, "5", null]),
		max_turns: random.pick<unknown>([1, 100, null, -1]),
	});
}

function config(random: Random, envelope: string): unknown {
	const bare = mutated(random, {
		agent: agentConfig(random),
		...some(random, { max_tokens: random.pick<unknown>([1, 20_000, null, "x"]), limits: { budget: 5 } }),
	});
	return random.chance(10) ? { [envelope]: bare } : bare;
}

function paramsOf(method: string, random: Random, ids: readonly string[]): unknown {
	if (random.chance(6)) return random.pick(values);
	switch (method) {
		case "initialize":
			return random.pick<unknown>([
				{ requests: ["approval/request", 5, "question/request", "no/such"], tools: [tool(random)] },
				{ requests: "approval/request", tools: {} },
				{ client: { name: "c" }, protocol_version: "1.7" },
				{},
			]);
		case "tools/register":
			return mutated(random, { tools: Array.from({ length: random.below(3) }, () => tool(random)) });
		case "session/create":
			return mutated(random, {
				prompt: random.pick(texts),
				...some(random, {
					model: random.pick<unknown>(["m", "scripted", "gpt-5.2", "claude-sonnet-4-5", "nobody", "", null]),
					provider: random.pick<unknown>(["p", "scripted", "openai", "anthropic", "", "__proto__", null]),
					max_tokens: random.pick<unknown>([0, 1, 4_294_967_295, null]),
					system_prompt: random.pick<unknown>([...texts, null]),
					enable_builtins: random.pick<unknown>([true, false, null]),
					enable_shell: random.pick<unknown>([true, false, null]),
					budget_limits: random.pick<unknown>([{ max_tokens: 1_000_000 }, { max_tool_calls: 50 }, {}, null, 5]),
					turn_budget_limits: random.pick<unknown>([
						{ max_duration: "90s" },
						{ max_tokens: "x" },
						{ max_tool_calls: -1 },
					]),
					initial_turn: random.pick<unknown>(["deferred", "deferred", "run_immediately", null, "later"]),
				}),
			});
		case "session/list":
			return random.pick<unknown>([{ limit: 1 }, { limit: 0, offset: -1 }, { offset: 1e9 }, [], {}]);
		case "turn/start":
			return mutated(random, { session_id: sessionId(random, ids), prompt: random.pick(texts) });
		case "session/history":
			return mutated(random, {
				session_id: sessionId(random, ids),
				...some(random, { offset: random.pick([0, 1, 1e9, -1, 1.5]), limit: random.pick<unknown>([0, 1, null, -1]) }),
			});
		case "session/read":
		case "session/archive":
		case "turn/interrupt":
			return mutated(random, { session_id: sessionId(random, ids) });
		case "config/set":
			return config(random, "config");
		case "config/patch":
			return config(random, "patch");
		default:
			return random.pick(values);
	}
}

/** Counted ids keep the requests of a batch apart; only the odd ones come again. */
function idOf(random: Random, count: number): string {
	if (random.chance(25)) return random.pick(oddIds);
	return random.pick([String(count), `"s${count}"`, String(2n ** 62n + BigInt(count))]);
}

function requestText(random: Random, ids: readonly string[], count: number): string {
	const method = random.pick(methodNames);
	const members = [`"jsonrpc":"2.0"`, `"id":${idOf(random, count)}`, `"method":${JSON.stringify(method)}`];
	if (random.chance(92)) members.push(`"params":${JSON.stringify(paramsOf(method, random, ids))}`);
	return `{${members.join(",")}}`;
}

/** A request with one of its members gone, twice there, or something else. */
function bentText(random: Random, ids: readonly string[], count: number): string {
	const method = JSON.stringify(random.pick(methodNames));
	const members: Record<string, string> = {
		jsonrpc: random.pick(['"2.0"', '"2.0"', '"1.0"', "2", "null", '"2.0 "']),
		id: idOf(random, count),
		method: random.chance(80) ? method : JSON.stringify(random.pick(values)),
		params: JSON.stringify(paramsOf("turn/start", random, ids)),
		result: JSON.stringify(random.pick(values)),
		error: random.pick([
			'{"code":-32000,"message":"m"}',
			'{"code":"5","message":"m"}',
			'{"code":1.5,"message":"m"}',
			'{"code":1}',
			"5",
			"null",
		]),
		more: "1",
	};
	const chances: Readonly<Record<string, number>> = {
		jsonrpc: 85,
		id: 85,
		method: 65,
		params: 50,
		result: 15,
		error: 15,
	};
	const persisted = Object.entries(members).filter(([key]) => random.chance(chances[key] ?? 10));
	const order = random.chance(50) ? persisted : persisted.reverse();
	const pairs = order.map(([key, value]) => `${JSON.stringify(key)} :${value}`);
	const twice = random.chance(6) ? [`"id":${idOf(random, count)}`] : [];
	return ` {${[...pairs, ...twice].join(" , ")} }`;
}

/** Answers to nothing that was asked, batches, and requests that are cut, joined or flipped. */
function damaged(random: Random, ids: readonly string[], count: number): FuzzLine {
	const text = requestText(random, ids, count);
	const bytes = Buffer.from(text);
	switch (random.below(6)) {
		case 0:
			return line(`[${text},${requestText(random, ids, count + 1)}]`);
		case 1:
			return line(`${text}${random.pick([" x", "}", text, "\u0000"])}`);
		case 2:
			return { bytes: bytes.subarray(0, random.below(bytes.length)), isJson: null };
		case 3:
			bytes[random.below(bytes.length)] = random.below(256);
			return { bytes, isJson: null };
		case 4:
			return line(`${random.pick(["\ufeff", "\u00a0", "\t\r", "\u200b"])}${text}\r`);
		default: {
			const id = idOf(random, count);
			const answer = random.pick([
				'"result":{"decision":"approve"}',
				'"result":null',
				'"error":{"code":1,"message":"m"}',
			]);
			return line(`{"jsonrpc":"2.0","id":${id},${answer}}`);
		}
	}
}

/** The next line; `ids` are sessions that were made, `count` grows from line to line. */
export function meerkatLine(random: Random, ids: readonly string[], count: number): FuzzLine {
	const kind = random.below(100);
	if (kind < 55) return line(requestText(random, ids, count));
	if (kind < 72) return line(bentText(random, ids, count));
	if (kind < 84) return damaged(random, ids, count);
	return fuzzLine(random);
}
