// Malformed HTTP and WebSocket input: one request is never read as two, nothing is held for long, and clients without a token hold
// nothing at all.
import { randomBytes } from "node:crypto";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { ServerResponse } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import * as v from "valibot";
import { describe, expect, it, onTestFinished } from "vitest";
import type { GatewayClient } from "../../../test/support/gateway/gateway-client.ts";
import { control, createGateway } from "../../../test/support/gateway/gateway-subject.ts";
import { type RawConnection, sendRaw } from "../../../test/support/gateway/raw-client.ts";
import type { HostSettings } from "../../../test/support/sessions/session-host.ts";
import { createDeferred } from "../../base/deferred.ts";
import { isRecord } from "../../base/json.ts";
import { silentLog } from "../../base/log.ts";

async function createSubject(settings: HostSettings = {}) {
	const place = await createGateway(settings);
	const connect = (bytes: string | Buffer = ""): RawConnection => {
		const connection = sendRaw(place.port, bytes);
		onTestFinished(() => void connection.socket.destroy());
		return connection;
	};
	const host = `Host: 127.0.0.1:${place.port}`;
	const head = (line: string, ...headers: readonly string[]) =>
		`${[line, host, `Authorization: Bearer ${control}`, ...headers].join("\r\n")}\r\n\r\n`;
	return { ...place, connect, host, head };
}

const info = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "server.info", params: {} });
const json = "Content-Type: application/json";

/** The responses that the servers of this process begin until the test ends, as they begin. */
function watchResponses(): ServerResponse[] {
	const responses: ServerResponse[] = [];
	const note = (message: unknown) => {
		const response = isRecord(message) ? message["response"] : null;
		if (response instanceof ServerResponse) responses.push(response);
	};
	subscribe("http.server.request.start", note);
	onTestFinished(() => void unsubscribe("http.server.request.start", note));
	return responses;
}

/** The names of those that were attached to a session by the time that one more, `later`, is. */
async function attachedTo(client: GatewayClient, sessionId: string): Promise<unknown> {
	const stream = await client.stream(`sessions=${sessionId}&client=later`);
	const { data } = await stream.until(({ name }) => name === "state");
	const { clients } = v.parse(
		v.object({ clients: v.array(v.object({ name: v.nullable(v.string()) })) }),
		data["snapshot"],
	);
	return clients.map(({ name }) => name);
}

describe("streams whose connection is over", () => {
	it("do not begin when it ended before the token was read", async () => {
		const { client, tokens, connect, head } = await createSubject();
		const sessionId = await client.createSession();
		const responses = watchResponses();
		const { scopeOf } = tokens;
		const asked = createDeferred<void>();
		const goOn = createDeferred<void>();
		tokens.scopeOf = async (token) => {
			asked.resolve();
			await goOn.promise;
			return await scopeOf(token);
		};
		const { socket } = connect(head(`GET /events?sessions=${sessionId}&client=gone HTTP/1.1`));
		await asked.promise;
		const [response] = responses;
		const closed = new Promise((resolve) => response?.once("close", resolve));
		socket.destroy();
		await closed;
		goOn.resolve();
		expect(await attachedTo(client, sessionId)).toEqual([]);
	});

	it("end also behind one that was requested before on the same connection", async () => {
		const { client, connect, head } = await createSubject();
		const sessionId = await client.createSession();
		const responses = watchResponses();
		const get = (name: string) => head(`GET /events?sessions=${sessionId}&client=${name} HTTP/1.1`);
		const { socket, until } = connect(get("first") + get("second"));
		await until((text) => text.includes("event: queue"));
		expect(await attachedTo(client, sessionId)).toEqual(["first", "second"]);
		const [first] = responses;
		const closed = new Promise((resolve) => first?.once("close", resolve));
		socket.destroy();
		await closed;
		await nextTurn();
		expect(await attachedTo(client, sessionId)).toEqual(["later"]);
	});
});

describe("requests as bytes", () => {
	it("are answered in their order when several come at once", async () => {
		const { connect, head } = await createSubject();
		const call = head("POST /rpc HTTP/1.1", json, `Content-Length: ${info.length}`) + info;
		const { until, statuses, text } = connect(call + head("GET /nothing HTTP/1.1") + call);
		await until(() => statuses().length === 3);
		expect(statuses()).toEqual([200, 404, 200]);
		expect(text().match(/"protocol":1/g)).toHaveLength(2);
	});

	it.each([
		["both a length and chunks", ["Content-Length: 6", "Transfer-Encoding: chunked"]],
		["two lengths", ["Content-Length: 6", "Content-Length: 60"]],
		["a list of lengths", ["Content-Length: 6, 60"]],
		["a length with a sign", ["Content-Length: +6"]],
		["chunks that are not the last coding", ["Transfer-Encoding: chunked, identity"]],
		["chunks spelled oddly", ["Transfer-Encoding: xchunked"]],
		["a blank before the colon", ["Content-Length : 6"]],
		["a folded header", ["X: a", " Content-Length: 6"]],
	])("are refused with %s, and what follows is no request", async (_, headers) => {
		const { connect, head } = await createSubject();
		const hidden = head("GET /healthz HTTP/1.1");
		const { closed, statuses } = connect(`${head("POST /rpc HTTP/1.1", json, ...headers)}0\r\n\r\n${hidden}`);
		await closed;
		expect(statuses().filter((status) => status < 400)).toEqual([]);
		expect(statuses().length).toBeLessThanOrEqual(1);
	});

	it("take a body in chunks with extensions, and refuse more of these than anybody needs", async () => {
		const { connect, head } = await createSubject();
		const begin = head("POST /rpc HTTP/1.1", json, "Transfer-Encoding: chunked");
		const chunked = (extension: string) => `${info.length.toString(16)};${extension}\r\n${info}\r\n0\r\n\r\n`;
		const good = connect(begin + chunked("a=b"));
		await good.until(() => good.statuses().length === 1);
		expect(good.statuses()).toEqual([200]);
		const flood = connect(begin + chunked("x".repeat(100_000)));
		await flood.closed;
		expect(flood.statuses().filter((status) => status < 400)).toEqual([]);
	});

	it.each(["their client", "the server"])(
		"are no fault of ours when %s ends them before they are whole",
		async (who) => {
			const logged: unknown[] = [];
			const note = (message: string) => void logged.push(message);
			const log = { ...silentLog, warn: note, error: note };
			const { connect, head, gateway } = await createSubject({ log });
			const { socket, until, closed } = connect(
				head("POST /rpc HTTP/1.1", json, "Content-Length: 100", "Expect: 100-continue"),
			);
			await until((text) => text.includes(" 100 "));
			socket.write("{");
			if (who === "their client") socket.destroy();
			await gateway.close();
			await closed;
			await nextTurn();
			expect(logged).toEqual([]);
		},
	);

	it("are refused with more headers than anybody needs", async () => {
		const { connect, head } = await createSubject();
		const many = Array.from({ length: 5000 }, (_, index) => `X-${index}: ${"y".repeat(10)}`);
		const { closed, statuses } = connect(head("GET /healthz HTTP/1.1", ...many));
		await closed;
		expect(statuses()).toEqual([431]);
	});

	it.each([
		["/../gateway.json", 404],
		["/assets/../../gateway.json", 404],
		["/assets/%2e%2e/%2e%2e/gateway.json", 404],
		["/assets/..%2f..%2fgateway.json", 404],
		["/assets/..\\..\\gateway.json", 404],
		["//assets/icon.svg", 404],
		["http://127.0.0.1/rpc", 404],
		["/sessions/..%2f..%2fetc/history", 400],
		["/sessions/%00/history", 400],
		["/sessions/%ff/history", 400],
		["/interactions/a/../../x", 404],
	])("find nothing at %s", async (target, status) => {
		const { connect, head } = await createSubject();
		const { until, statuses, text } = connect(head(`GET ${target} HTTP/1.1`));
		await until(() => statuses().length === 1);
		expect(statuses()).toEqual([status]);
		expect(text()).not.toContain(control);
	});

	it("hold no connection without a token, however slowly their body comes", async () => {
		const { connect, host, client } = await createSubject();
		const slow = `POST /rpc HTTP/1.1\r\n${host}\r\n${json}\r\nContent-Length: 1000\r\n\r\n{`;
		const connections = Array.from({ length: 50 }, () => connect(slow));
		await Promise.all(connections.map(({ closed }) => closed));
		for (const { statuses } of connections) expect(statuses()).toEqual([401]);
		expect(await client.result("server.info")).toMatchObject({ protocol: 1 });
	});
});

interface FrameOptions {
	readonly isLast?: boolean;
	readonly isMasked?: boolean;
	/** What it says instead of its own length. */
	readonly size?: bigint;
	readonly flags?: number;
}

/** A frame of a WebSocket. */
function frame(opcode: number, payload: Buffer, options: FrameOptions = {}): Buffer {
	const { isLast = true, isMasked = true, size, flags = 0 } = options;
	const isLong = size !== undefined || payload.length > 125;
	const head = Buffer.alloc(isLong ? 10 : 2);
	head[0] = (isLast ? 0x80 : 0) | flags | opcode;
	head[1] = (isMasked ? 0x80 : 0) | (isLong ? 127 : payload.length);
	if (isLong) head.writeBigUInt64BE(size ?? BigInt(payload.length), 2);
	if (!isMasked) return Buffer.concat([head, payload]);
	const mask = randomBytes(4);
	return Buffer.concat([head, mask, payload.map((byte, index) => byte ^ (mask[index % 4] ?? 0))]);
}

describe("frames as bytes", () => {
	const text = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}');

	async function open() {
		const { connect, head, client } = await createSubject();
		const upgrade = [
			"Connection: Upgrade",
			"Upgrade: websocket",
			"Sec-WebSocket-Version: 13",
			"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
		];
		const connection = connect(head("GET /acp HTTP/1.1", ...upgrade));
		await connection.until((received) => received.includes("\r\n\r\n"));
		expect(connection.statuses()).toEqual([101]);
		return { ...connection, client };
	}

	it("are put together from their fragments, with others between", async () => {
		const { socket, until } = await open();
		socket.write(frame(1, text.subarray(0, 10), { isLast: false }));
		socket.write(frame(9, Buffer.from("ping")));
		socket.write(frame(0, text.subarray(10)));
		await until((received) => received.includes("ping") && received.includes('"protocolVersion":1'));
	});

	it.each([
		["without a mask", frame(1, text, { isMasked: false })],
		["of an unknown kind", frame(3, text)],
		["of an unknown kind of control", frame(11, text)],
		["with reserved bits", frame(1, text, { flags: 0x40 })],
		["that go on with nothing", frame(0, text)],
		["of control that are in fragments", frame(9, Buffer.from("x"), { isLast: false })],
		["of control that are too long", frame(9, Buffer.alloc(126))],
		["that say they are longer than any message", frame(1, text, { size: 1n << 40n })],
		["with a length beyond all numbers", frame(1, text, { size: (1n << 64n) - 1n })],
		["with text that is no UTF-8", frame(1, Buffer.from([0xff, 0xfe]))],
		["of a close with a code that is none", frame(8, Buffer.from([0, 1]))],
		["of a close with half a code", frame(8, Buffer.from([3]))],
		["of bytes", frame(2, text)],
	])("%s end their socket, and nobody else's", async (_, bytes) => {
		const { socket, closed, text: received, client } = await open();
		const opened = received().length;
		socket.write(bytes);
		await closed;
		// A close frame, or nothing.
		expect(received().length - opened).toBeLessThan(130);
		expect(await client.result("server.info")).toMatchObject({ protocol: 1 });
	});

	it("in fragments without an end take no more than one message may", async () => {
		const { socket, closed } = await open();
		const piece = Buffer.alloc(1024 * 1024, 0x20);
		socket.write(frame(1, piece, { isLast: false }));
		let isOver = false;
		void closed.then(() => {
			isOver = true;
		});
		for (let count = 0; count < 64 && !isOver; count += 1) {
			await new Promise<void>((resolve) => {
				if (socket.destroyed) resolve();
				else socket.write(frame(0, piece, { isLast: false }), () => resolve());
			});
		}
		await closed;
	});
});
