// A connection over HTTP, to a server that is a function in the place of the network.
import { UnauthorizedError } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import { nobodyToAsk, noProcesses } from "../../../test/support/sessions/session-doubles.ts";
import type { RemoteMcpServer } from "../../api/mcp-servers.ts";
import { createDeferred } from "../../base/deferred.ts";
import { silentLog } from "../../base/log.ts";
import type { McpAuthorization } from "./authorization.ts";
import { ServerConnection } from "./connection.ts";

const server: RemoteMcpServer = {
	kind: "remote",
	name: "web",
	url: "http://h/mcp",
	transport: "http",
	headers: { "X-Key": "k" },
	authorization: { kind: "none" },
	readTimeout: null,
	callTimeout: null,
	filter: { names: null, hidden: [], includeTags: null, excludeTags: [] },
};

interface SeenRequest {
	readonly method: string;
	readonly rpc: string | null;
	readonly session: string | null;
	readonly authorization: string | null;
	readonly key: string | null;
}

type Answer = (id: number, session: string) => Response;

const json = (id: number, result: unknown, headers: Record<string, string> = {}) =>
	new Response(JSON.stringify({ jsonrpc: "2.0", id, result }), {
		headers: { "content-type": "application/json", ...headers },
	});
/** An event on a stream that stays open. */
const openStream = (message: unknown) => {
	const data = typeof message === "string" ? message : JSON.stringify(message);
	const body = new ReadableStream<Uint8Array>({
		start: (controller) => controller.enqueue(new TextEncoder().encode(`data: ${data}\n\n`)),
	});
	return new Response(body, { headers: { "content-type": "text/event-stream" } });
};
const refuse = (status: number, text = "") => new Response(text, { status });
const refused = () => {
	const cause = Object.assign(new Error("connect ECONNREFUSED 1.2.3.4:80"), { code: "ECONNREFUSED" });
	throw new TypeError("fetch failed", { cause });
};

interface ServerDouble {
	readonly seen: SeenRequest[];
	/** In place of the usual answer to requests with this method of the protocol or, for the stream and the farewell, of HTTP. */
	readonly instead: Map<string, Answer>;
	/** Forgets all sessions, as a server that was started anew. */
	restart(): void;
	fetch(url: string | URL, init?: RequestInit): Promise<Response>;
}

function createServer(): ServerDouble {
	let generation = 1;
	const double: ServerDouble = {
		seen: [],
		instead: new Map(),
		restart() {
			generation += 1;
		},
		async fetch(_, { method = "GET", headers, body } = {}) {
			const given = new Headers(headers);
			const message = typeof body === "string" ? JSON.parse(body) : {};
			const rpc: string | null = message.method ?? null;
			const session = given.get("mcp-session-id");
			double.seen.push({ method, rpc, session, authorization: given.get("authorization"), key: given.get("x-key") });
			const current = `session-${generation}`;
			const other = double.instead.get(rpc ?? method);
			if (other !== undefined) return other(message.id, current);
			if (method === "GET") return refuse(405);
			if (method === "DELETE") return new Response(null, { status: 200 });
			if (rpc === "initialize") {
				const { protocolVersion } = message.params;
				const serverInfo = { name: "n", version: "1" };
				const result = { protocolVersion, capabilities: { tools: {} }, serverInfo };
				return json(message.id, result, { "mcp-session-id": current });
			}
			if (session !== current) return refuse(404, "Session not found");
			if (message.id === undefined) return new Response(null, { status: 202 });
			if (rpc === "tools/list") return json(message.id, { tools: [{ name: "t", inputSchema: { type: "object" } }] });
			return json(message.id, { content: [{ type: "text", text: "done" }] });
		},
	};
	return double;
}

const nobodySignedIn: McpAuthorization = {
	provider: async () => null,
	needs: async () => {},
	settled: async () => {},
};

function connect(
	double: ServerDouble,
	settings: Partial<RemoteMcpServer> = {},
	authorization: Partial<McpAuthorization> = {},
	clock = createFakeClock(),
) {
	const parts = {
		processes: noProcesses,
		authorization: { ...nobodySignedIn, ...authorization },
		clock,
		log: silentLog,
		version: "1.2.3",
	};
	const { fetch } = double;
	const place = { workDir: "/work", startDir: "/share", environment: {} };
	const connection = new ServerConnection({ ...server, ...settings }, place, { ...parts, fetch });
	const call = () =>
		connection.call(
			{
				tool: { name: "t", parameters: { type: "object" } },
				arguments: {},
				timeout: 1000,
				asker: { questions: nobodyToAsk, toolCallId: "c" },
				progressed() {},
			},
			new AbortController().signal,
		);
	return { connection, call };
}

const done = { kind: "answered", result: { content: [{ type: "text", text: "done" }] } };
const calls = ({ seen }: ServerDouble) => seen.filter(({ rpc }) => rpc === "tools/call").length;

describe("a remote server", () => {
	it("gets its headers, and a request to end its session", async () => {
		const double = createServer();
		const { connection, call } = connect(double);
		await connection.connect();
		expect([connection.state, connection.tools.length]).toEqual(["connected", 1]);
		expect(await call()).toEqual(done);
		await connection.close();
		expect(new Set(double.seen.map(({ key }) => key))).toEqual(new Set(["k"]));
		expect(double.seen.at(-1)).toMatchObject({ method: "DELETE", session: "session-1" });
	});

	it.each<[RemoteMcpServer["headers"], string]>([
		[{}, "Bearer secret"],
		[{ authorization: "Basic mine" }, "Basic mine"],
	])("gets a token, unless its headers have one: %j", async (headers, authorization) => {
		const double = createServer();
		const { connection } = connect(double, { headers, authorization: { kind: "bearer", token: "secret" } });
		await connection.connect();
		expect(new Set(double.seen.map((request) => request.authorization))).toEqual(new Set([authorization]));
	});

	it("that forgot the session gets a new one, and the request again", async () => {
		const double = createServer();
		const { connection, call } = connect(double);
		await connection.connect();
		double.restart();
		expect(await call()).toEqual(done);
		expect(calls(double)).toBe(2);
		expect([connection.state, double.seen.at(-1)?.session]).toEqual(["connected", "session-2"]);
	});

	const body = (text: string) => new Response(text, { headers: { "content-type": "application/json" } });
	it.each<[string, (id: number) => Response]>([
		["HTTP 401", () => refuse(401, "no such session")],
		["HTTP 410", () => refuse(410)],
		["an error", (id) => body(`{"jsonrpc":"2.0","id":${id},"error":{"code":-32001,"message":"Session not found"}}`)],
		[
			"an error without an id",
			() => body('{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Invalid session"}}'),
		],
		["an error that is no message", () => body('{"error":"unknown session"}')],
		[
			"an error on a stream",
			(id) => openStream({ jsonrpc: "2.0", id, error: { code: 0, message: "Session expired" } }),
		],
		[
			"an error about its handshake",
			(id) => openStream({ jsonrpc: "2.0", id, error: { code: 0, message: "Server not initialized" } }),
		],
	])("that reports a lost session with %s gets a new one, and the request again", async (_, answer) => {
		const double = createServer();
		const { connection, call } = connect(double);
		await connection.connect();
		double.restart();
		double.instead.set("tools/call", (id) => {
			double.instead.clear();
			return answer(id);
		});
		expect(await call()).toEqual(done);
		expect([calls(double), connection.state]).toEqual([2, "connected"]);
	});

	it("that demands a sign-in with a challenge has forgotten no session", async () => {
		const double = createServer();
		const { connection, call } = connect(double);
		await connection.connect();
		double.instead.set(
			"tools/call",
			() => new Response("", { status: 401, headers: { "www-authenticate": "Bearer" } }),
		);
		expect(await call()).toMatchObject({ kind: "failed", isUncertain: false });
		expect(calls(double)).toBe(1);
	});

	it("that was unreachable gets the request again, once", async () => {
		const double = createServer();
		const { connection, call } = connect(double);
		await connection.connect();
		double.instead.set("tools/call", refused);
		const reason = "fetch failed: connect ECONNREFUSED 1.2.3.4:80";
		expect(await call()).toEqual({ kind: "failed", reason, isUncertain: false });
		expect(calls(double)).toBe(2);
		double.instead.clear();
		expect(await call()).toEqual(done);
	});

	it("that breaks off its answer leaves the outcome uncertain, and gets no second request", async () => {
		const double = createServer();
		const { connection, call } = connect(double);
		await connection.connect();
		double.instead.set(
			"tools/call",
			() => new Response(": half", { headers: { "content-type": "text/event-stream" } }),
		);
		expect(await call()).toEqual({ kind: "failed", reason: "the server broke off its answer", isUncertain: true });
		expect([calls(double), connection.state]).toEqual([1, "failed"]);
		double.instead.clear();
		expect(await call()).toEqual(done);
	});

	it.each<[string, Answer, number]>([
		["accepts a call as it would a notification", () => new Response(null, { status: 202 }), 202],
		[
			"answers no request",
			() => new Response("[]", { headers: { "content-type": "application/json; charset=utf-8" } }),
			200,
		],
	])("that %s fails at once", async (_, answer, status) => {
		const double = createServer();
		const { connection, call } = connect(double);
		await connection.connect();
		double.instead.set("tools/call", answer);
		const reason = `the server answered with HTTP ${status}, but not what was requested`;
		expect(await call()).toEqual({ kind: "failed", reason, isUncertain: false });
		expect([calls(double), connection.state]).toEqual([1, "connected"]);
		double.instead.clear();
		expect(await call()).toEqual(done);
	});

	it("that answers another request than the call fails at once, also on a stream that it leaves open", async () => {
		const double = createServer();
		const { connection, call } = connect(double);
		await connection.connect();
		const reason = "it answered with the id 102 instead of 2";
		double.instead.set("tools/call", (id) => json(id + 100, { content: [] }));
		expect(await call()).toEqual({ kind: "failed", reason, isUncertain: false });
		double.instead.set("tools/call", (id) => openStream({ jsonrpc: "2.0", id: id + 99, result: {} }));
		expect(await call()).toEqual({
			kind: "failed",
			reason: "it answered with the id 102 instead of 3",
			isUncertain: false,
		});
	});

	it("that accepts the first request as it would a notification has failed at once", async () => {
		const double = createServer();
		double.instead.set("initialize", () => new Response(null, { status: 202 }));
		const { connection } = connect(double);
		await connection.connect();
		const reason = "the server answered with HTTP 202, but not what was requested";
		expect([connection.state, connection.failure?.reason]).toEqual(["failed", reason]);
	});

	it.each(["text", null, 5, [1], true])("that answers with the result %j fails at once", async (result) => {
		const streamed = (id: number, cut: number) => {
			const bytes = new TextEncoder().encode(`: é\ndata: ${JSON.stringify({ jsonrpc: "2.0", id, result })}\n\n`);
			// Left open, as servers do.
			const body = new ReadableStream<Uint8Array>({
				start(controller) {
					controller.enqueue(bytes.subarray(0, cut));
					controller.enqueue(bytes.subarray(cut));
				},
			});
			return new Response(body, { headers: { "content-type": "text/event-stream" } });
		};
		const double = createServer();
		const { connection, call } = connect(double);
		await connection.connect();
		const failed = { kind: "failed", reason: "the result in its answer is not an object", isUncertain: false };
		double.instead.set("tools/call", (id) => json(id, result));
		expect(await call()).toEqual(failed);
		for (const cut of [0, 3, 20]) {
			double.instead.set("tools/call", (id) => streamed(id, cut));
			expect(await call()).toEqual(failed);
		}
		expect(connection.state).toBe("connected");
	});

	it("that sends messages which nest too deeply or are too long gets errors for them, and the call goes on", async () => {
		const deep = `${'{"a":'.repeat(200_000)}1${"}".repeat(200_000)}`;
		const double = createServer();
		const replies: unknown[] = [];
		const fetch = async (url: string | URL, init?: RequestInit) => {
			const sent = typeof init?.body === "string" ? JSON.parse(init.body) : {};
			if ("error" in sent) replies.push(sent);
			return await double.fetch(url, init);
		};
		const { connection, call } = connect({ ...double, fetch });
		await connection.connect();
		double.instead.set(
			"tools/call",
			(id) =>
				new Response(`{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":${deep}}}`, {
					headers: { "content-type": "application/json" },
				}),
		);
		const reason = "its answer nests more than 200 levels deep";
		expect(await call()).toEqual({ kind: "failed", reason, isUncertain: false });
		const form = (id: string, params: string) =>
			`data: {"jsonrpc":"2.0","id":"${id}","method":"elicitation/create","params":${params}}\n\n`;
		const result = JSON.stringify({ content: [{ type: "text", text: "done" }] });
		double.instead.set(
			"tools/call",
			(id) =>
				new Response(
					`${form("a", deep)}${form("b", `{"x":"${"y".repeat(70_000)}"}`)}data: {"jsonrpc":"2.0","id":${id},"result":${result}}\n\n`,
					{ headers: { "content-type": "text/event-stream" } },
				),
		);
		expect(await call()).toEqual(done);
		expect(replies).toEqual([
			{ jsonrpc: "2.0", id: "a", error: { code: -32600, message: "The request nests more than 200 levels deep." } },
			{ jsonrpc: "2.0", id: "b", error: { code: -32600, message: "The request has more than 65536 characters." } },
		]);
	});

	it.each([
		["retry: 0\n\n", 1000],
		["retry: 5000\n\n", 5000],
		["retry: 9999999999999\n\n", 300_000],
	])("that ends its stream with %j is asked for another one after %i ms", async (events, wait) => {
		const clock = createFakeClock();
		const double = createServer();
		const headers = { "content-type": "text/event-stream" };
		double.instead.set("GET", () => new Response(events, { headers }));
		const { connection } = connect(double, {}, {}, clock);
		const opened = () => double.seen.filter(({ method }) => method === "GET").length;
		await connection.connect();
		await expect.poll(() => [opened(), clock.waiting()]).toEqual([1, 1]);
		clock.advance(wait - 1);
		expect([opened(), clock.waiting()]).toEqual([1, 1]);
		clock.advance(1);
		await expect.poll(() => [opened(), clock.waiting()]).toEqual([2, 1]);
		await connection.close();
	});

	it("has the stream of a call no longer that took too long", async () => {
		const clock = createFakeClock();
		const double = createServer();
		const called = createDeferred<AbortSignal>();
		const fetch = async (url: string | URL, init?: RequestInit) => {
			const response = await double.fetch(url, init);
			if (String(init?.body).includes('"tools/call"') && init?.signal) called.resolve(init.signal);
			return response;
		};
		const { connection, call } = connect({ ...double, fetch }, {}, {}, clock);
		await connection.connect();
		const headers = { "content-type": "text/event-stream" };
		double.instead.set("tools/call", () => new Response(new ReadableStream(), { headers }));
		const running = call();
		const signal = await called.promise;
		expect(signal.aborted).toBe(false);
		clock.advance(1000);
		expect(await running).toMatchObject({ kind: "timed-out" });
		await expect.poll(() => signal.aborted).toBe(true);
		double.instead.clear();
		expect(await call()).toEqual(done);
	});

	it("has thirty seconds to end the stream of a call that it has answered", async () => {
		const clock = createFakeClock();
		const double = createServer();
		const streams: AbortSignal[] = [];
		const fetch = async (url: string | URL, init?: RequestInit) => {
			if (String(init?.body).includes('"tools/call"') && init?.signal) streams.push(init.signal);
			return await double.fetch(url, init);
		};
		const { connection, call } = connect({ ...double, fetch }, {}, {}, clock);
		await connection.connect();
		const headers = { "content-type": "text/event-stream" };
		const answer = (id: number) => `data: ${JSON.stringify({ jsonrpc: "2.0", id, result: done.result })}\n\n`;
		for (const isClosing of [true, false]) {
			const answering = (id: number) =>
				new ReadableStream<Uint8Array>({
					start(controller) {
						controller.enqueue(new TextEncoder().encode(answer(id)));
						if (isClosing) controller.close();
					},
				});
			double.instead.set("tools/call", (id) => new Response(answering(id), { headers }));
			expect(await call()).toEqual(done);
		}
		await expect.poll(() => clock.waiting()).toBe(1);
		clock.advance(29_999);
		expect(streams.map(({ aborted }) => aborted)).toEqual([false, false]);
		clock.advance(1);
		expect(streams.map(({ aborted }) => aborted)).toEqual([false, true]);
		double.instead.clear();
		expect(await call()).toEqual(done);
		expect([connection.state, clock.waiting()]).toEqual(["connected", 0]);
	});

	it("has thirty seconds to accept the notification of a cancel", async () => {
		const clock = createFakeClock();
		const double = createServer();
		const notified = createDeferred<AbortSignal>();
		const fetch = async (url: string | URL, init?: RequestInit) => {
			const body = String(init?.body);
			const isCancel = body.includes('"notifications/cancelled"');
			if (isCancel && init?.signal) notified.resolve(init.signal);
			const isHung = isCancel || body.includes('"tools/call"');
			return isHung ? await new Promise<Response>(() => {}) : await double.fetch(url, init);
		};
		const { connection, call } = connect({ ...double, fetch }, {}, {}, clock);
		await connection.connect();
		const running = call();
		await expect.poll(() => clock.waiting()).toBe(1);
		clock.advance(1000);
		expect(await running).toMatchObject({ kind: "timed-out" });
		const signal = await notified.promise;
		clock.advance(29_999);
		expect(signal.aborted).toBe(false);
		clock.advance(1);
		expect(signal.aborted).toBe(true);
	});

	it("that answers with an HTTP error stays connected", async () => {
		const double = createServer();
		const { connection, call } = connect(double);
		await connection.connect();
		double.instead.set("tools/call", () => refuse(500, "Oh no."));
		expect(await call()).toEqual({
			kind: "failed",
			reason: "http://h/mcp answered with HTTP 500: Oh no",
			isUncertain: false,
		});
		expect(connection.state).toBe("connected");
	});

	it.each([
		["refuses", () => refuse(403)],
		["answers garbage", () => new Response("<html>", { headers: { "content-type": "text/html" } })],
		["is unreachable", refused],
	] as const)("that %s at the beginning has failed", async (_, answer) => {
		const double = createServer();
		double.instead.set("initialize", answer);
		const { connection } = connect(double);
		await connection.connect();
		expect(connection.state).toBe("failed");
	});
});

describe("a server that requires a sign-in", () => {
	const oauth = { authorization: { kind: "oauth", client: null } } as const;

	it("gets no request without a sign-in", async () => {
		const double = createServer();
		const { connection } = connect(double, oauth);
		await connection.connect();
		expect([connection.state, double.seen]).toEqual(["unauthorized", []]);
	});

	it("gets the token of the sign-in", async () => {
		const double = createServer();
		const asked: string[] = [];
		const { connection } = connect(double, oauth, {
			async provider(url) {
				asked.push(url);
				return { token: async () => "granted" };
			},
		});
		await connection.connect();
		await connection.close();
		expect([connection.state, asked]).toEqual(["connected", ["http://h/mcp"]]);
		expect(new Set(double.seen.map(({ authorization }) => authorization))).toEqual(new Set(["Bearer granted"]));
	});

	it("is connected by the first retry after the sign-in", async () => {
		const double = createServer();
		let isSignedIn = false;
		const { connection } = connect(double, oauth, {
			provider: async () => (isSignedIn ? { token: async () => "granted" } : null),
		});
		await connection.connect();
		for (let n = 0; n < 10; n += 1) {
			connection.retry();
			await new Promise((resolve) => setImmediate(resolve));
		}
		expect([connection.state, double.seen]).toEqual(["unauthorized", []]);
		isSignedIn = true;
		connection.retry();
		await expect.poll(() => connection.state).toBe("connected");
	});

	it("can require a permission for a call, which is stored for the next sign-in", async () => {
		const double = createServer();
		const challenge = 'Bearer error="insufficient_scope", scope="a:write b", resource_metadata="http://h/meta"';
		double.instead.set(
			"tools/call",
			() => new Response("", { status: 403, headers: { "www-authenticate": challenge } }),
		);
		const needs: unknown[] = [];
		const { connection, call } = connect(double, oauth, {
			provider: async () => ({ token: async () => "granted" }),
			needs: async (...needed) => void needs.push(needed),
		});
		await connection.connect();
		expect(await call()).toEqual({
			kind: "failed",
			reason: "the sign-in lacks a permission for that (a:write b), for which a person has to sign in to it again",
			isUncertain: false,
		});
		expect(needs).toEqual([["http://h/mcp", { scope: "a:write b", resourceMetadataUrl: new URL("http://h/meta") }]]);
		expect([connection.state, calls(double)]).toEqual(["connected", 1]);
		double.instead.clear();
		expect(await call()).toEqual(done);
	});

	it("can require a permission that no sign-in grants", async () => {
		const double = createServer();
		const challenge = 'Bearer error="insufficient_scope"';
		double.instead.set(
			"tools/call",
			() => new Response("", { status: 403, headers: { "www-authenticate": challenge } }),
		);
		const needs: unknown[] = [];
		const { connection, call } = connect(double, {}, { needs: async (...needed) => void needs.push(needed) });
		await connection.connect();
		expect(await call()).toMatchObject({ reason: "the sign-in lacks a permission for that", isUncertain: false });
		expect([connection.state, needs]).toEqual(["connected", []]);
	});

	it("can refuse the token", async () => {
		const double = createServer();
		double.instead.set("initialize", () => refuse(401));
		const { connection } = connect(double, oauth, {
			provider: async () => ({
				token: async () => "old",
				onUnauthorized: () => Promise.reject(new UnauthorizedError("refused")),
			}),
		});
		await connection.connect();
		expect(connection.state).toBe("unauthorized");
	});

	it("is closed when renewed tokens are stored, for which it waits a second at most", async () => {
		for (const isStored of [true, false]) {
			const stored = createDeferred<void>();
			const waited = createDeferred<void>();
			const clock = createFakeClock();
			const { connection } = connect(
				createServer(),
				oauth,
				{
					provider: async () => ({ token: async () => "granted" }),
					settled: () => {
						waited.resolve();
						return stored.promise;
					},
				},
				clock,
			);
			await connection.connect();
			let isClosed = false;
			const closing = connection.close().then(() => {
				isClosed = true;
			});
			await waited.promise;
			clock.advance(999);
			await new Promise((resolve) => setImmediate(resolve));
			expect(isClosed).toBe(false);
			if (isStored) stored.resolve();
			else clock.advance(1);
			await closing;
		}
	});
});

describe("a server whose answers come on a stream of events", () => {
	const ended = "the event stream of http://h/mcp ended";
	/** A fetch of a server that sends these events, accepts every message, and closes its stream after the first one or never. */
	const serve = (events: string, isClosing: boolean) => {
		let end = () => {};
		return async (_url: string | URL, init?: RequestInit) => {
			if (init?.method === "POST") {
				if (isClosing) end();
				return new Response(null, { status: 202 });
			}
			const body = new ReadableStream<Uint8Array>({
				start(controller) {
					controller.enqueue(new TextEncoder().encode(events));
					end = () => controller.close();
				},
			});
			return new Response(body, { headers: { "content-type": "text/event-stream" } });
		};
	};

	it("fails when the stream ends before the server has said who it is", async () => {
		const fetch = serve("event: endpoint\ndata: /messages\n\n", true);
		const { connection } = connect({ ...createServer(), fetch }, { transport: "sse" });
		await connection.connect();
		expect([connection.state, connection.failure?.reason]).toEqual(["failed", ended]);
	});

	/** A server that answers on its stream, and leaves those messages unaccepted that have this text in them. */
	const hang = (text: string, isAnswering: boolean) => {
		const hung = createDeferred<AbortSignal>();
		let write = (_event: string) => {};
		const results: Readonly<Record<string, object>> = {
			initialize: {
				protocolVersion: "2025-06-18",
				capabilities: { tools: {} },
				serverInfo: { name: "n", version: "1" },
			},
			"tools/list": { tools: [{ name: "t", inputSchema: { type: "object" } }] },
			"tools/call": { content: [{ type: "text", text: "done" }] },
		};
		const fetch = async (_url: string | URL, init?: RequestInit) => {
			if (init?.method !== "POST") {
				const body = new ReadableStream<Uint8Array>({
					start(controller) {
						write = (event) => controller.enqueue(new TextEncoder().encode(event));
						write("event: endpoint\ndata: /messages\n\n");
					},
				});
				return new Response(body, { headers: { "content-type": "text/event-stream" } });
			}
			const { id, method } = JSON.parse(String(init.body));
			const isHung = String(init.body).includes(text);
			const result = results[method];
			if (result !== undefined && (!isHung || isAnswering)) {
				write(`data: ${JSON.stringify({ jsonrpc: "2.0", id, result })}\n\n`);
			}
			if (!isHung) return new Response(null, { status: 202 });
			const { signal } = init;
			if (signal) hung.resolve(signal);
			return await new Promise<Response>((_resolve, reject) => {
				signal?.addEventListener("abort", () => reject(signal.reason));
			});
		};
		return { hung: hung.promise, double: { ...createServer(), fetch } };
	};

	it("need not accept a call that took too long any more", async () => {
		const clock = createFakeClock();
		const { hung, double } = hang('"tools/call"', false);
		const { connection, call } = connect(double, { transport: "sse" }, {}, clock);
		await connection.connect();
		const running = call();
		const signal = await hung;
		expect(signal.aborted).toBe(false);
		clock.advance(1000);
		expect(await running).toMatchObject({ kind: "timed-out" });
		await expect.poll(() => signal.aborted).toBe(true);
		expect(connection.state).toBe("connected");
	});

	it("need not accept a call that it has answered", async () => {
		const { hung, double } = hang('"tools/call"', true);
		const { connection, call } = connect(double, { transport: "sse" });
		await connection.connect();
		expect(await call()).toEqual(done);
		const signal = await hung;
		await expect.poll(() => signal.aborted).toBe(true);
		expect(await call()).toEqual(done);
		expect(connection.state).toBe("connected");
	});

	it("has thirty seconds to accept the notification of a cancel", async () => {
		const clock = createFakeClock();
		const { hung, double } = hang('"notifications/cancelled"', true);
		const silent = hang('"tools/call"', false);
		const fetch = async (url: string | URL, init?: RequestInit) => {
			const isCall = String(init?.body).includes('"tools/call"');
			return await (isCall ? silent.double : double).fetch(url, init);
		};
		const { connection, call } = connect({ ...double, fetch }, { transport: "sse" }, {}, clock);
		await connection.connect();
		const running = call();
		await silent.hung;
		clock.advance(1000);
		expect(await running).toMatchObject({ kind: "timed-out" });
		const signal = await hung;
		clock.advance(29_999);
		expect(signal.aborted).toBe(false);
		clock.advance(1);
		expect(signal.aborted).toBe(true);
	});

	it("has ten minutes to say where messages are sent to", async () => {
		const clock = createFakeClock();
		const fetch = serve(": hello\n\n", false);
		const { connection } = connect({ ...createServer(), fetch }, { transport: "sse" }, {}, clock);
		const connecting = connection.connect();
		await expect.poll(() => clock.waiting()).toBe(1);
		clock.advance(600_000);
		await connecting;
		expect([connection.state, connection.failure?.reason]).toEqual(["failed", "no answer within 600 seconds"]);
		expect(clock.waiting()).toBe(0);
	});
});

it("a server that sends requests without waiting for answers is disconnected, and its call fails", async () => {
	const double = createServer();
	const pings = Array.from({ length: 300 }, (_, id) => ({ jsonrpc: "2.0", id: `p${id}`, method: "ping" }));
	const events = pings.map((ping) => `data: ${JSON.stringify(ping)}\n\n`).join("");
	double.instead.set("tools/call", () => new Response(events, { headers: { "content-type": "text/event-stream" } }));
	/** The server takes no answers. */
	const fetch = async (url: string | URL, init?: RequestInit) =>
		String(init?.body).includes('"result"') ? await new Promise<Response>(() => {}) : await double.fetch(url, init);
	const { connection, call } = connect({ ...double, fetch });
	await connection.connect();
	expect(await call()).toEqual({
		kind: "failed",
		reason: "it sent more than 200 requests without waiting for answers",
		isUncertain: true,
	});
	expect(connection.state).toBe("failed");
});
