// Messages as real servers send them: of slightly wrong form. None may make a request wait for its time limit.
import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../../../test/support/host/campaign-clock.ts";
import { createProgram, type ReceivedMessage } from "../../../../test/support/mcp/mcp-program.ts";
import { nobodyToAsk, noProcesses } from "../../../../test/support/sessions/session-doubles.ts";
import { silentLog } from "../../../base/log.ts";
import { ServerConnection } from "../connection.ts";
import { readIncoming } from "./incoming-message.ts";
import { OpenRequests } from "./open-requests.ts";

/** What is printed instead of the answer to a method, by over which transport. */
type Print = (id: number) => string;

const filter = { names: null, hidden: [], includeTags: null, excludeTags: [] };
const call = (connection: ServerConnection) =>
	connection.call(
		{
			tool: { name: "t", parameters: { type: "object" } },
			arguments: {},
			timeout: 60_000,
			asker: { questions: nobodyToAsk, toolCallId: "c" },
			progressed() {},
		},
		new AbortController().signal,
	);
const parts = {
	clock: createFakeClock(),
	authorization: { provider: async () => null, needs: async () => {}, settled: async () => {} },
	log: silentLog,
	version: "1",
};
const place = { workDir: "/", startDir: "/", environment: {} };
const usual = (method: string, params: Record<string, unknown>): unknown =>
	method === "initialize"
		? {
				protocolVersion: params["protocolVersion"],
				capabilities: { tools: {} },
				serverInfo: { name: "n", version: "1" },
			}
		: { tools: [{ name: "t", inputSchema: { type: "object" } }] };

function overStdio(instead: Readonly<Record<string, Print>>): ServerConnection {
	const program = createProgram({
		handle({ id, method = "", params = {} }: ReceivedMessage, run) {
			const print = instead[method];
			if (print === undefined) run.send({ id, result: usual(method, { ...params }) });
			else run.print(`${print(Number(id))}\n`);
			return true;
		},
	});
	const fetch = async () => new Response();
	const server = { kind: "local" as const, name: "s", command: "s", arguments: [], environment: {}, workDir: null };
	return new ServerConnection({ ...server, callTimeout: null, filter }, place, {
		...parts,
		fetch,
		processes: program.processes,
	});
}

/** `wrap` makes the answer of the text. */
function overHttp(instead: Readonly<Record<string, Print>>, wrap: (text: string) => Response): ServerConnection {
	const fetch = async (_: string | URL, init?: RequestInit): Promise<Response> => {
		if (typeof init?.body !== "string") return new Response(null, { status: 405 });
		const { id, method, params } = JSON.parse(init.body);
		if (id === undefined) return new Response(null, { status: 202 });
		const print = instead[method];
		return wrap(print?.(id) ?? JSON.stringify({ jsonrpc: "2.0", id, result: usual(method, params) }));
	};
	const server = { kind: "remote" as const, name: "s", url: "http://h/mcp", transport: "http" as const, headers: {} };
	const settings = {
		...server,
		authorization: { kind: "none" as const },
		readTimeout: null,
		callTimeout: null,
		filter,
	};
	return new ServerConnection(settings, place, { ...parts, fetch, processes: noProcesses });
}

const inJson = (text: string) => new Response(text, { headers: { "content-type": "application/json" } });
/** Left open, as servers do. */
const inStream = (text: string) => {
	const lines = text.split("\n").map((line) => `data: ${line}\r\n`);
	const body = new ReadableStream<Uint8Array>({
		start: (controller) => controller.enqueue(new TextEncoder().encode(`${lines.join("")}\r\n`)),
	});
	return new Response(body, { headers: { "content-type": "text/event-stream" } });
};

const transports: [string, (instead: Readonly<Record<string, Print>>) => ServerConnection][] = [
	["stdio", overStdio],
	["JSON over HTTP", (instead) => overHttp(instead, inJson)],
	["a stream over HTTP", (instead) => overHttp(instead, inStream)],
];
const content = '"content":[{"type":"text","text":"done"}]';
const done = { kind: "answered", result: { content: [{ type: "text", text: "done" }] } };
const failed = (reason: string) => ({ kind: "failed", reason, isUncertain: false });

describe.each(transports)("over %s", (_, connect) => {
	it.each<[string, Print]>([
		["_meta: null", (id) => `{"jsonrpc":"2.0","id":${id},"result":{${content},"_meta":null}}`],
		["_meta as text", (id) => `{"jsonrpc":"2.0","id":${id},"result":{${content},"_meta":"x"}}`],
		["an error that is null", (id) => `{"jsonrpc":"2.0","id":${id},"result":{${content}},"error":null}`],
		["NaN", (id) => `{"jsonrpc":"2.0","id":${id},"result":{${content},"x":[NaN,-Infinity,"a \\"NaN"]}}`],
		["a byte order mark", (id) => `\ufeff{"jsonrpc":"2.0","id":${id},"result":{${content}}}`],
		["its id as text", (id) => `{"jsonrpc":"2.0","id":"${id}","result":{${content}}}`],
		["no id", () => `{"jsonrpc":"2.0","result":{${content}}}`],
		["the id null", () => `{"jsonrpc":"2.0","id":null,"result":{${content}}}`],
		["no version", (id) => `{"id":${id},"result":{${content}}}`],
		["a method that is null", (id) => `{"jsonrpc":"2.0","id":${id},"method":null,"result":{${content}}}`],
		["members of its own", (id) => `{"jsonrpc":"2.0","id":${id},"result":{${content}},"time":1}`],
		["content as text", (id) => `{"jsonrpc":"2.0","id":${id},"result":{"content":"done"}}`],
		["content as one block", (id) => `{"jsonrpc":"2.0","id":${id},"result":{"content":{"type":"text","text":"done"}}}`],
		[
			"nulls in a block",
			(id) => `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"done","annotations":null}]}}`,
		],
	])("an answer with %s is accepted", async (_, print) => {
		const connection = connect({ "tools/call": print });
		await connection.connect();
		expect(await call(connection)).toEqual(done);
	});

	it.each<[string, Print, string]>([
		["its error as text", (id) => `{"jsonrpc":"2.0","id":${id},"error":"no luck"}`, "no luck"],
		[
			"its error as text and the result null",
			(id) => `{"jsonrpc":"2.0","id":${id},"result":null,"error":"no luck"}`,
			"no luck",
		],
		["an error without code", (id) => `{"jsonrpc":"2.0","id":${id},"error":{"message":"no luck"}}`, "no luck"],
		[
			"the code of an error as text",
			(id) => `{"jsonrpc":"2.0","id":${id},"error":{"code":"E1","message":"no luck"}}`,
			"no luck",
		],
		[
			"an error without message",
			(id) => `{"jsonrpc":"2.0","id":${id},"error":{"code":5,"message":null}}`,
			'{"code":5,"message":null}',
		],
		[
			"a result and an error",
			(id) => `{"jsonrpc":"2.0","id":${id},"result":{${content}},"error":{"code":1,"message":"no luck"}}`,
			"no luck",
		],
		["neither", (id) => `{"jsonrpc":"2.0","id":${id}}`, "its answer has neither a result nor an error"],
		[
			"only an error that is null",
			(id) => `{"jsonrpc":"2.0","id":${id},"error":null}`,
			"its answer has neither a result nor an error",
		],
		[
			"a result that is null",
			(id) => `{"jsonrpc":"2.0","id":${id},"result":null}`,
			"the result in its answer is not an object",
		],
		["another id", () => `{"jsonrpc":"2.0","id":99,"result":{${content}}}`, "it answered with the id 99 instead of 2"],
		[
			"the id of an earlier request",
			() => `{"jsonrpc":"2.0","id":0,"result":{${content}}}`,
			"it answered with the id 0 instead of 2",
		],
		[
			"a broken text",
			(id) => `{"jsonrpc":"2.0","id":${id},"result":{"content":[}}`,
			"its answer is not valid JSON on one line",
		],
		[
			"Python's notation",
			(id) => `{'jsonrpc': '2.0', 'id': ${id}, 'result': {}}`,
			"its answer is not valid JSON on one line",
		],
	])("an answer with %s ends the call at once", async (_, print, reason) => {
		const connection = connect({ "tools/call": print });
		await connection.connect();
		expect(await call(connection)).toEqual(failed(reason));
		expect(connection.state).toBe("connected");
	});

	it.each<[string, string]>([
		["instructions", '"instructions":null'],
		["a server name", '"serverInfo":null'],
		["details of the server", '"serverInfo":{"name":"n","version":null,"title":null,"icons":null}'],
	])("a handshake with null for %s is accepted", async (_, member) => {
		const version = '"protocolVersion":"2025-06-18"';
		const capabilities =
			'"capabilities":{"tools":{"listChanged":null},"logging":null,"prompts":false,"resources":true}';
		const info = member.includes("serverInfo") ? "" : '"serverInfo":{"name":"n","version":"1"},';
		const connection = connect({
			initialize: (id) =>
				`{"jsonrpc":"2.0","id":${id},"result":{${version},${capabilities},${info}${member},"_meta":null}}`,
		});
		await connection.connect();
		expect([connection.state, connection.tools.length]).toEqual(["connected", 1]);
	});

	it("a list with nulls for optional members is accepted", async () => {
		const tool =
			'{"name":"t","title":null,"description":null,"inputSchema":null,"annotations":null,"outputSchema":null,"_meta":null}';
		const connection = connect({
			"tools/list": (id) => `{"jsonrpc":"2.0","id":${id},"result":{"tools":[${tool}],"nextCursor":null,"_meta":null}}`,
		});
		await connection.connect();
		expect(connection.tools.map(({ name }) => name)).toEqual(["t"]);
	});
});

describe("a line of a program", () => {
	const read = (text: string): readonly JSONRPCMessage[] | null => {
		const open = new OpenRequests();
		open.sent({ jsonrpc: "2.0", id: 3, method: "ping" });
		return readIncoming(text, open)?.messages ?? null;
	};
	const answer = { jsonrpc: "2.0", id: 3, result: {} };

	it("may begin with a log text that has no line end", () => {
		expect(read(`Starting... ${JSON.stringify(answer)}`)).toEqual([answer]);
	});

	it("fails the only request when it is the first line of several", () => {
		expect(read('  "jsonrpc": "2.0",')).toMatchObject([{ id: 3, error: {} }]);
	});

	it.each([
		"Listening",
		'{"level":"error","error":"x"}',
		'{"method":"GET","path":"/"}',
		'{"error": "x"',
		'received {"jsonrpc":"2.0","id":3,"method":"ping"}',
		'received {"jsonrpc":"2.0","id":3,"method":"ping","par',
	])("is a log line otherwise: %s", (text) => {
		expect(read(text)).toBe(null);
	});

	it("is the late answer to a request that was given up", () => {
		const open = new OpenRequests();
		open.sent({ jsonrpc: "2.0", id: 3, method: "ping" });
		open.sent({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 3 } });
		open.sent({ jsonrpc: "2.0", id: 4, method: "ping" });
		expect(readIncoming(JSON.stringify(answer), open)).toBe(null);
		expect(open.has(4)).toBe(true);
	});

	it("may repeat the last one", () => {
		const open = new OpenRequests();
		open.sent({ jsonrpc: "2.0", id: 3, method: "ping" });
		expect(readIncoming(JSON.stringify(answer), open)?.messages).toEqual([answer]);
		open.sent({ jsonrpc: "2.0", id: 4, method: "ping" });
		expect(readIncoming(JSON.stringify(answer), open)?.messages).toEqual([]);
		expect(open.has(4)).toBe(true);
	});
});
