// Cases of the wedge campaign: what models answer, over every adapter, and the arguments of the calls they make.
import { gzipSync } from "node:zlib";
import type { Case, Scene, World } from "./case.ts";
import { type Answer, callTools, give, piecesOf, pour, stream, streamEnd, toEvent } from "./loopback.ts";
import { fill, list, manyKeys, nest } from "./texts.ts";

interface Adapter {
	readonly type: string;
	/** The base URL below that of the loopback server. */
	readonly path: string;
	/** A piece of an answer that says this. */
	readonly piece: (text: string) => string;
	readonly end: string;
}

const event = (name: string, data: object) => `event: ${name}\ndata: ${JSON.stringify({ type: name, ...data })}\n\n`;

const adapters: readonly Adapter[] = [
	{ type: "openai_legacy", path: "/v1", piece: (text) => toEvent({ content: text }), end: streamEnd },
	{
		type: "kimi",
		path: "/v1",
		piece: (text) => toEvent({ reasoning_content: text }) + toEvent({ content: text }),
		end: streamEnd,
	},
	{
		type: "openai_responses",
		path: "/v1",
		piece: (text) =>
			event("response.output_text.delta", { item_id: "m", output_index: 0, content_index: 0, delta: text }),
		end: event("response.completed", { response: { id: "r", usage: { input_tokens: 1, output_tokens: 1 } } }),
	},
	{
		type: "anthropic",
		path: "",
		piece: (text) => event("content_block_delta", { index: 0, delta: { type: "text_delta", text } }),
		end:
			event("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } }) +
			event("message_stop", {}),
	},
	{
		type: "gemini",
		path: "",
		piece: (text) => `data: ${JSON.stringify({ candidates: [{ content: { role: "model", parts: [{ text }] } }] })}\n\n`,
		end: `data: ${JSON.stringify({ candidates: [{ finishReason: "STOP", content: { parts: [] } }] })}\n\n`,
	},
];

/** What an adapter wants to see before the first piece. */
function begin({ type }: Adapter): string {
	if (type === "anthropic") {
		const message = {
			id: "m",
			type: "message",
			role: "assistant",
			model: "m",
			content: [],
			usage: { input_tokens: 1, output_tokens: 1 },
		};
		return (
			event("message_start", { message }) +
			event("content_block_start", { index: 0, content_block: { type: "text", text: "" } })
		);
	}
	if (type !== "openai_responses") return "";
	const item = { id: "m", type: "message", role: "assistant", content: [] };
	return (
		event("response.created", { response: { id: "r", created_at: 1, model: "m" } }) +
		event("response.output_item.added", { output_index: 0, item })
	);
}

const answered = (
	name: string,
	make: (adapter: Adapter, world: World) => Answer,
	reached = /session\/create/,
): readonly Case[] =>
	adapters.map((adapter) => ({
		area: `answers of ${adapter.type}`,
		name,
		reached,
		set: (world): Scene => {
			const { loopback } = world;
			loopback.route("/hostile", make(adapter, world));
			const provider = { type: adapter.type, base_url: `${loopback.url}/hostile${adapter.path}`, api_key: "key" };
			const model = { provider: "hostile", model: "hostile", max_context_size: 1_000_000, capabilities: ["thinking"] };
			return { settings: { providers: { hostile: provider }, models: { hostile: model } } };
		},
	}));

/** A million bytes of one text do not fit into memory a thousand times. */
function* endless(adapter: Adapter, bytes: number): Generator<string> {
	const piece = adapter.piece("x".repeat(10_000));
	yield begin(adapter);
	for (let sent = 0; sent < bytes; sent += piece.length) yield piece;
}

const whole = /session\/create: .*"text"/;

const answerCases: readonly Case[] = [
	...answered(
		"one piece of a megabyte",
		(adapter, { size }) => stream(begin(adapter) + adapter.piece(fill("so it is\n", size)) + adapter.end),
		whole,
	),
	...answered(
		"twenty thousand small pieces",
		(adapter, { size }) => stream(begin(adapter) + adapter.piece("a").repeat(Math.ceil(size / 50)) + adapter.end),
		whole,
	),
	...answered("a line without an end", (_, { size }) => stream(`data: ${fill("x", size)}`)),
	...answered("deep JSON", (_, { size }) => stream(`data: ${nest("[", "]", size)}\n\n`)),
	...answered("an object of many keys", (_, { size }) => stream(`data: ${manyKeys(size)}\n\n`)),
	...answered(
		"comments",
		(adapter, { size }) => stream(begin(adapter) + fill(":\n", size) + adapter.piece("a") + adapter.end),
		whole,
	),
	...answered("an event in short lines", (adapter, { size }) =>
		stream(`${begin(adapter)}${fill("data: x\n", size)}\n${adapter.piece("a")}${adapter.end}`),
	),
	...answered(
		"returns alone",
		(adapter, { size }) => stream(begin(adapter) + fill("\r", size) + adapter.piece("a") + adapter.end),
		whole,
	),
	...answered("names of events", (adapter, { size }) =>
		stream(begin(adapter) + fill("event: x\nid: y\nretry: 1\n\n", size) + adapter.piece("a") + adapter.end),
	),
	...answered("a page in place of an answer", (_, { size }) => give(fill("<html>", size))),
	...answered("a refusal of a megabyte", (_, { size }) => give(fill("<p>no", size), {}, 400)),
	...answered("a refusal of deep JSON", (_, { size }) =>
		give(nest('{"error":', "}", size, "1"), { "content-type": "application/json" }, 400),
	),
	...answered("a refusal whose text is a key, again and again", (_, { size }) =>
		give(
			JSON.stringify({ error: { message: fill("Bearer sk-abc api_key=", size) } }),
			{ "content-type": "application/json" },
			401,
		),
	),
	...answered("a gigabyte, compressed", () =>
		stream(Buffer.concat(Array.from({ length: 10 }, () => gzipSync(Buffer.alloc(100_000_000, 97)))), {
			"content-encoding": "gzip",
		}),
	),
	...adapters.map(
		(adapter): Case => ({
			area: `answers of ${adapter.type}`,
			name: "200 megabytes of text",
			// What the bound is, is in docs/explanation/guarantees.md.
			reached: /error -?\d+: .*(MiB|characters|too long|longer)/,
			limits: { memory: 400 * 1024 * 1024 },
			patience: 60_000,
			set: ({ loopback }) => {
				loopback.route("/hostile", async (response) => {
					response.writeHead(200, { "content-type": "text/event-stream" });
					await pour(response, endless(adapter, 200_000_000));
					response.end(adapter.end);
				});
				const provider = { type: adapter.type, base_url: `${loopback.url}/hostile${adapter.path}`, api_key: "key" };
				const model = { provider: "hostile", model: "hostile", max_context_size: 100_000_000 };
				return { settings: { providers: { hostile: provider }, models: { hostile: model } } };
			},
		}),
	),
];

const completion = (name: string, text: (size: number) => string | Uint8Array, reached = /session\/create/): Case => ({
	area: "calls of a model",
	name,
	reached,
	set: ({ size }) => ({ answers: [(response) => stream(text(size))(response, response.req)] }),
});

const call = (name: string, given: string) =>
	toEvent({ tool_calls: [{ index: 0, id: "c", type: "function", function: { name, arguments: given } }] });
const asked = `${toEvent({}, { finish_reason: "tool_calls" })}data: [DONE]\n\n`;

const given = (name: string, text: (size: number) => string, reached: RegExp): Case => ({
	area: "arguments of a call",
	name,
	reached,
	set: ({ size }) => ({ answers: [callTools({ name: "Shell", arguments: text(size) })] }),
});

const callCases: readonly Case[] = [
	completion(
		"arguments a character at a time",
		(size) => {
			const piece = toEvent({ tool_calls: [{ index: 0, function: { arguments: "a" } }] });
			return (
				call("Shell", '{"command":"echo ') +
				piece.repeat(Math.ceil(size / 40)) +
				toEvent({ tool_calls: [{ index: 0, function: { arguments: '"}' } }] }) +
				asked
			);
		},
		/Shell ok/,
	),
	completion(
		"ten thousand calls",
		(size) =>
			`${list(
				size,
				(n) =>
					toEvent({
						tool_calls: [{ index: n, id: `c${n}`, type: "function", function: { name: "nothing", arguments: "{}" } }],
					}).trim(),
				"\n\n",
			)}\n\n${asked}`,
		/nothing error/,
	),
	completion(
		"a thousand calls that are the same",
		() =>
			Array.from({ length: 1000 }, (_, n) =>
				toEvent({
					tool_calls: [
						{ index: n, id: `c${n}`, type: "function", function: { name: "Glob", arguments: '{"pattern":"*"}' } },
					],
				}),
			).join("") + asked,
		/Glob/,
	),
	completion(
		"a call at a place far away",
		() =>
			toEvent({
				tool_calls: [
					{ index: 4_000_000_000, id: "c", type: "function", function: { name: "nothing", arguments: "{}" } },
				],
			}) + asked,
	),
	completion("the name of a tool that is a megabyte", (size) => call(fill("Shell", size), "{}") + asked, /error/),
	completion(
		"an id that is a megabyte",
		(size) =>
			toEvent({
				tool_calls: [
					{
						index: 0,
						id: fill("c/", size),
						type: "function",
						function: { name: "Shell", arguments: '{"command":"echo x"}' },
					},
				],
			}) + asked,
		/Shell ok/,
	),
	completion(
		"counts beyond all numbers",
		() => toEvent({ content: "x" }, { usage: { prompt_tokens: 1e308, completion_tokens: -1e308 } }) + streamEnd,
	),
	given("deep lists", (size) => nest("[", "]", size), /Shell error/),
	given("a deep member", (size) => `{"command":"true","x":${nest("[", "]", size)}}`, /Shell (ok|error)/),
	given("deep objects", (size) => nest('{"command":', "}", size, "1"), /Shell error/),
	given(
		"a hundred thousand keys",
		(size) => `{"command":"echo x",${list(size, (n) => `"k${n}":${n}`, ",")}}`,
		/Shell (ok|error)/,
	),
	given(
		"keys of Object",
		(size) => `{"command":"echo x",${fill('"__proto__":{"a":1},', size - (size % 20))}"constructor":1}`,
		/Shell (ok|error)/,
	),
	given("brackets that do not close", (size) => fill('{"a":[', size), /Shell error/),
	given("a quote that does not close", (size) => `{"command":"${fill("\\\\", size)}`, /Shell error/),
	given("a number of a megabyte", (size) => `{"command":"echo x","timeout":${fill("1", size)}}`, /Shell error/),
	given("blanks", (size) => `${fill(" \n", size)}{"command":"echo x"}`, /Shell ok/),
	given("a list of text of text", (size) => JSON.stringify({ command: fill('\\"', size / 3) }), /Shell (ok|error)/),
];

const reasoning: readonly Case[] = [
	{
		area: "calls of a model",
		name: "a megabyte of reasoning and fences",
		reached: /session\/create: /,
		set: ({ size }) => ({
			answers: [
				async (response) => {
					response.writeHead(200, { "content-type": "text/event-stream" });
					const text =
						toEvent({ reasoning_content: fill("<think>", size) }) +
						toEvent({ content: fill("```<choice>", size) }) +
						streamEnd;
					await pour(response, piecesOf(Buffer.from(text), 1000));
					response.end();
				},
			],
		}),
	},
	{
		area: "compaction",
		name: "a conversation of a megabyte",
		reached: /turn\/start: /,
		set: ({ size }) => ({
			act: async (life) => {
				const reply = await life.ask("session/create", { model: "hostile", prompt: fill("why? ", size) });
				const { session_id: sessionId } = Object(reply?.result);
				life.queue([callTools()]);
				await life.ask("turn/start", { session_id: sessionId, prompt: "/compact" });
			},
		}),
	},
];

export const modelCases: readonly Case[] = [...answerCases, ...callCases, ...reasoning];
