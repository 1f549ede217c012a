// Cases of the wedge campaign: what MCP servers and tools of clients say, apart from schemas.
import type { Case, Scene, World } from "./case.ts";
import { type ServerScript, serveTools } from "./cases-schemas.ts";
import { callTools, give, pour, stream } from "./loopback.ts";
import { fill, list, manyKeys, nest } from "./texts.ts";

const paint = '{"name":"paint","inputSchema":{"type":"object"}}';
const tools = `{"tools":[${paint}]}`;
const result = (content: string, more = "") => `{"jsonrpc":"2.0","id":@ID@,"result":{"content":[${content}]${more}}}`;
const notice = (method: string, params = "{}") =>
	`{"jsonrpc":"2.0","method":"notifications/${method}","params":${params}}\n`;

const server = (
	name: string,
	make: (size: number, world: World) => ServerScript,
	reached = /paint (ok|error)/,
): Case => ({
	area: "MCP server",
	name,
	reached,
	set(world): Scene {
		serveTools(world, make(world.size, world));
		return {
			settings: { mcp: { client: { tool_call_timeout_ms: 5000 } }, agentwire: { mcp_start_timeout: 5 } },
			answers: [callTools({ name: "paint", arguments: { x: 1 } })],
		};
	},
});

const programs: readonly Case[] = [
	server("a result of a megabyte", (size) => ({
		list: tools,
		call: result(`{"type":"text","text":"${fill("a\\n", size)}"}`),
	})),
	server("a result of fifty thousand parts", (size) => ({
		list: tools,
		call: result(list(size, () => '{"type":"text","text":"a"}', ",")),
	})),
	server("a picture of a megabyte", (size) => ({
		list: tools,
		call: result(`{"type":"image","mimeType":"image/png","data":"${fill("AAAA", size - (size % 4))}"}`),
	})),
	server("a structured result as deep as it gets", (size) => ({
		list: tools,
		call: result("", `,"structuredContent":${nest('{"a":', "}", size, "1")}`),
	})),
	server("a structured result of many keys", (size) => ({
		list: tools,
		call: result("", `,"structuredContent":${manyKeys(size)}`),
	})),
	server("a result that is nested lists", (size) => ({
		list: tools,
		call: `{"jsonrpc":"2.0","id":@ID@,"result":${nest("[", "]", size)}}`,
	})),
	server("content of no kind", (size) => ({ list: tools, call: result(list(size, (n) => `{"type":"odd${n}"}`, ",")) })),
	server("resources without end", (size) => ({
		list: tools,
		call: result(
			list(size, (n) => `{"type":"resource","resource":{"uri":"x:${n}","text":"a","mimeType":"text/plain"}}`, ","),
		),
	})),
	server("an error of a megabyte", (size) => ({
		list: tools,
		call: `{"jsonrpc":"2.0","id":@ID@,"error":{"code":-1,"message":"${fill("e", size)}","data":${manyKeys(1000)}}}`,
	})),
	server("no JSON, a megabyte in a line", (size) => ({
		list: tools,
		begin: `${fill("x", size)}\n`,
		call: `${fill("x", size)}\n${result("")}`,
	})),
	server("no JSON, many short lines", (size) => ({ list: tools, call: `${fill("x\n", size)}\n${result("")}` })),
	server("brackets that do not close", (size) => ({ list: tools, call: `${fill("[", size)}\n${result("")}` })),
	server("a line without an end", (size) => ({ list: tools, call: fill("x", size * 20) })),
	server("stderr without end", (size) => ({ list: tools, noise: fill("some trouble\n", size * 5), call: result("") })),
	server("a hundred thousand notices of progress", (size) => ({
		list: tools,
		call: `${fill(notice("progress", '{"progressToken":1,"progress":1}'), size)}\n${result("")}`,
	})),
	server("ten thousand changes of the list", (size) => ({
		list: tools,
		call: `${notice("tools/list_changed").repeat(Math.ceil(size / 80))}${result("")}`,
	})),
	server("messages for the log", (size) => ({
		list: tools,
		call: `${fill(notice("message", '{"level":"error","data":"x"}'), size)}\n${result("")}`,
	})),
	server("ten thousand requests", (size) => ({
		list: tools,
		call: `${list(size, (n) => `{"jsonrpc":"2.0","id":"s${n}","method":"ping"}`, "\n")}\n${result("")}`,
	})),
	server("a form of a megabyte", (size) => ({
		list: tools,
		call: `{"jsonrpc":"2.0","id":"s1","method":"elicitation/create","params":{"message":"${fill("m", 1000)}","requestedSchema":{"type":"object","properties":{${list(size, (n) => `"p${n}":{"type":"string","enum":["a","b"]}`, ",")}}}}}\n${result("")}`,
	})),
	server("answers to questions that nobody asked", (size) => ({
		list: tools,
		call: `${list(size, (n) => `{"jsonrpc":"2.0","id":${n + 1_000_000},"result":{}}`, "\n")}\n${result("")}`,
	})),
	server("ten thousand tools", (size) => ({
		list: `{"tools":[${paint},${list(size, (n) => `{"name":"t${n}","inputSchema":{"type":"object","properties":{"a":{"type":"string"}}}}`, ",")}]}`,
		call: result(""),
	})),
	server("a tool described by a megabyte", (size) => ({
		list: `{"tools":[{"name":"paint","description":"${fill("d", size)}","inputSchema":{"type":"object"}}]}`,
		call: result(""),
	})),
	server(
		"a list without an end",
		() => ({ list: `{"tools":[${paint}],"nextCursor":"more"}`, call: result("") }),
		/paint (ok|error)|session\/create/,
	),
	server(
		"a list with a cursor of a megabyte",
		(size) => ({ list: `{"tools":[${paint}],"nextCursor":"${fill("c", size)}"}`, call: result("") }),
		/paint|session\/create/,
	),
	server(
		"a list that is nested",
		(size) => ({ list: nest('{"tools":[', "]}", size), call: result("") }),
		/session\/create/,
	),
	server("the same name fifty thousand times", (size) => ({
		list: `{"tools":[${fill(`${paint},`, size - (size % (paint.length + 1)))}${paint}]}`,
		call: result(""),
	})),
];

const remote = (name: string, route: (world: World) => void, reached = /session\/create/): Case => ({
	area: "MCP over HTTP",
	name,
	reached,
	set(world): Scene {
		route(world);
		const hostile = { url: `${world.loopback.url}/mcp` };
		world.stage.writeShared("mcp.json", JSON.stringify({ mcpServers: { hostile } }));
		return {
			settings: { agentwire: { mcp_start_timeout: 4 } },
			answers: [callTools({ name: "paint", arguments: { x: 1 } })],
		};
	},
});

const json = { "content-type": "application/json" };

const services: readonly Case[] = [
	remote("a page in place of an answer", ({ loopback, size }) => loopback.route("/mcp", give(fill("<html>", size)))),
	remote("deep JSON", ({ loopback, size }) => loopback.route("/mcp", give(nest("[", "]", size), json))),
	remote("a refusal of a megabyte", ({ loopback, size }) => loopback.route("/mcp", give(fill("no ", size), json, 500))),
	remote("a stream of comments without end", ({ loopback }) =>
		loopback.route("/mcp", async (response) => {
			response.writeHead(200, { "content-type": "text/event-stream" });
			await pour(response, comments());
		}),
	),
	remote("an event of a megabyte in short lines", ({ loopback, size }) =>
		loopback.route("/mcp", stream(fill("data: x\n", size))),
	),
	remote("where to sign in, a megabyte of it", ({ loopback, size }) =>
		loopback.route("/mcp", (response) => {
			response.writeHead(401, { "www-authenticate": `Bearer ${fill('a="b\\",', Math.min(size, 12_000))}` }).end();
		}),
	),
];

function* comments(): Generator<string> {
	for (let number = 0; number < 2000; number += 1) yield ": nothing\n".repeat(1000);
}

const client = (name: string, answer: (size: number) => unknown, reached = /paint (ok|error)/): Case => ({
	area: "client's tool",
	name,
	reached,
	set: ({ size }) => ({
		declared: '[{"name":"paint"}]',
		answers: [callTools({ name: "paint", arguments: { x: 1 } })],
		reply: (method) => (method === "tool/execute" ? answer(size) : null),
	}),
});

const clients: readonly Case[] = [
	client("a result of a megabyte", (size) => ({ content: fill("a\n", size) })),
	client("a result of fifty thousand parts", (size) => ({
		content: Array.from({ length: Math.ceil(size / 20) }, () => ({ type: "text", text: "a" })),
	})),
	client("a result that is nested", (size) => ({ content: JSON.parse(nest("[", "]", Math.min(size, 5000))) })),
	client("an answer of many keys", (size) => JSON.parse(manyKeys(size))),
	{
		area: "client's tool",
		name: "ten thousand of them",
		reached: /paint ok|initialize error -32602: A client can register at most 1000 tools/,
		set: ({ size }) => ({
			declared: `[{"name":"paint"},${list(size, (n) => `{"name":"t${n}","input_schema":{"type":"object","properties":{}}}`, ",")}]`,
			answers: [callTools({ name: "paint", arguments: {} })],
		}),
	},
	{
		area: "client's tool",
		name: "names of a megabyte",
		reached: /initialize error|session\/create/,
		set: ({ size }) => ({ declared: `[{"name":"${fill("a", size)}","description":"${fill("d", size)}"}]` }),
	},
];

const manifestOfMany = (size: number) =>
	`{"name":"hostile","version":"1","tools":[${list(size, (n) => `{"name":"t${n}","description":"","command":["true"]}`, ",")}]}`;

const plugins: readonly Case[] = [
	{
		area: "plugins",
		name: "a tool that prints without end",
		reached: /paint (ok|error)|cancelled/,
		set: ({ stage }) => {
			const tool = '{"name":"paint","description":"","command":["sh","-c","yes | head -c 200000000"]}';
			stage.writeShared("plugins/hostile/plugin.json", `{"name":"hostile","version":"1","tools":[${tool}]}`);
			return { answers: [callTools({ name: "paint", arguments: {} })] };
		},
	},
	{
		area: "plugins",
		name: "ten thousand tools",
		// A manifest of more than 256 KiB is left out.
		reached: /t1 error.*`t1` not found/,
		set: ({ stage }) => {
			stage.writeShared("plugins/hostile/plugin.json", manifestOfMany(1_000_000));
			return { answers: [callTools({ name: "t1", arguments: {} })] };
		},
	},
	{
		area: "plugins",
		name: "five thousand tools",
		reached: /t1 ok/,
		set: ({ stage, size }) => {
			stage.writeShared("plugins/hostile/plugin.json", manifestOfMany(Math.min(size, 250_000)));
			return { answers: [callTools({ name: "t1", arguments: {} })] };
		},
	},
	{
		area: "plugins",
		name: "five hundred plugins",
		reached: /t1 ok/,
		set: ({ stage }) => {
			for (let n = 0; n < 500; n += 1) {
				const tool = `{"name":"t${n}","description":"","command":["true"]}`;
				stage.writeShared(`plugins/p${n}/plugin.json`, `{"name":"p${n}","version":"1","tools":[${tool}]}`);
			}
			return { answers: [callTools({ name: "t1", arguments: {} })] };
		},
	},
	...["[", '{"tools":', '{"a":1,'].map(
		(piece): Case => ({
			area: "plugins",
			name: `a manifest of ${piece}`,
			reached: /session\/create/,
			set: ({ stage, size }) => {
				stage.writeShared("plugins/hostile/plugin.json", fill(piece, size));
				return {};
			},
		}),
	),
];

export const mcpCases: readonly Case[] = [...programs, ...services, ...clients, ...plugins];
