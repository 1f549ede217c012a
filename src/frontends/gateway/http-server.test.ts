// The end of a server over HTTP, whatever its clients have begun and not finished.
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { connect as connectSecure } from "node:tls";
import { describe, expect, it, onTestFinished } from "vitest";
import { type RawConnection, sendRaw } from "../../../test/support/gateway/raw-client.ts";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import { createDeferred } from "../../base/deferred.ts";
import { HttpServer } from "./http-server.ts";

const patience = 500;
const fixture = (name: string) => readFileSync(new URL(`../../../test/fixtures/tls/${name}`, import.meta.url), "utf8");
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: here\r\n\r\n`;
const post = "POST /read HTTP/1.1\r\nHost: here\r\nContent-Length: 10\r\n\r\n";
/** What a client sends that begins to speak TLS: the head of a record, and the rest never comes. */
const halfHello = Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01]);

/** Answers `/now`, and whatever has a body once that is there; `/never` and `/large` are not answered to their ends. */
async function answer(request: IncomingMessage, response: ServerResponse, held: Set<ServerResponse>): Promise<void> {
	response.on("error", () => {});
	request.on("error", () => {});
	request.resume();
	if (request.url === "/never") return void held.add(response);
	if (request.url === "/read") await new Promise((resolve) => request.once("end", resolve));
	if (request.url === "/large") {
		response.write(Buffer.alloc(64 * 1024 * 1024));
		return;
	}
	response.end("done");
}

/** A server that has seen so many connections, and heads among them, once `seen` resolves. */
async function startServer(isSecure = false) {
	const clock = createFakeClock();
	const held = new Set<ServerResponse>();
	const arrivals: { readonly url: string; readonly seen: () => void }[] = [];
	const arrived = (url: string) => {
		for (const each of arrivals) if (each.url === url) each.seen();
	};
	const server = new HttpServer({
		tls: isSecure ? { certificate: fixture("server.pem"), key: fixture("server-key.pem") } : null,
		times: { headers: 600_000, request: 600_000 },
		connectionLimit: 100,
		clock,
		onRequest(request, response) {
			void answer(request, response, held);
			arrived(request.url ?? "");
		},
		onUpgrade(request, stream) {
			stream.on("error", () => {});
			arrived(request.url ?? "");
		},
		onError(error) {
			throw error;
		},
	});
	const port = await server.listen(0, "127.0.0.1");
	const connections: RawConnection[] = [];
	onTestFinished(async () => {
		for (const { socket } of connections) socket.destroy();
		await server.close(0);
	});
	const connect = (bytes: string | Buffer = "") => {
		const connection = sendRaw(port, bytes);
		connections.push(connection);
		return connection;
	};
	return {
		clock,
		held,
		port,
		connect,
		close: () => server.close(patience),
		/** Resolves when a request to this path has come. */
		request(url: string): Promise<void> {
			const seen = createDeferred<void>();
			arrivals.push({ url, seen: () => seen.resolve() });
			return seen.promise;
		},
		/** Resolves once everything that was sent before is there. */
		async settled(): Promise<void> {
			const probe = isSecure ? await ask(port) : connect(get("/now"));
			if (probe !== null) await probe.until((text) => text.includes("done"));
		},
	};
}

/** A whole request over HTTPS, answered. */
function ask(port: number): Promise<null> {
	return new Promise((resolve, reject) => {
		const socket = connectSecure({ port, host: "127.0.0.1", rejectUnauthorized: false }, () =>
			socket.write(get("/now")),
		);
		socket.on("error", reject);
		socket.once("data", () => {
			socket.destroy();
			resolve(null);
		});
	});
}

describe("an offer of another protocol than WebSockets", () => {
	const offer = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n";

	it.each([
		["without a body", `GET /now HTTP/1.1\r\nHost: here\r\n${offer}\r\n`],
		["with a body", `POST /read HTTP/1.1\r\nHost: here\r\n${offer}Content-Length: 10\r\n\r\n1234567890`],
		["and of WebSockets", "GET /now HTTP/1.1\r\nHost: here\r\nConnection: Upgrade\r\nUpgrade: h2c, websocket\r\n\r\n"],
	])("is ignored in a request %s", async (_, bytes) => {
		const { connect } = await startServer();
		const connection = connect(bytes);
		await connection.closed;
		expect(connection.statuses()).toEqual([200]);
		expect(connection.text()).toMatch(/\r\n\r\ndone$/);
	});

	it("is ignored in a request whose body comes late", async () => {
		const { connect } = await startServer();
		const connection = connect(`POST /read HTTP/1.1\r\nHost: here\r\n${offer}Content-Length: 10\r\n\r\n12345`);
		connection.socket.write("67890");
		await connection.closed;
		expect(connection.statuses()).toEqual([200]);
	});
});

describe("the end of a server", () => {
	it.each([
		["silent", ""],
		["half a head", "GET /now HTTP/1.1\r\nHost: he"],
		["half a line", "GE"],
		["half a body", `${post}12345`],
		["an answered request, and half a head after it", `${get("/now")}GET /now HT`],
		["an answered request, and nothing more", get("/now")],
	])("cuts a connection at once that is %s", async (_, bytes) => {
		const { connect, close, settled } = await startServer();
		const connection = connect(bytes);
		if (bytes.includes("/now HTTP/1.1\r\nHost: here")) await connection.until((text) => text.includes("done"));
		await settled();
		await close();
		await connection.closed;
		expect(connection.socket.destroyed).toBe(true);
	});

	it("has the answers to whole requests sent first, and closes their connections after them", async () => {
		const { connect, close, request, held } = await startServer();
		const came = request("/never");
		const connection = connect(get("/never"));
		await came;
		const closed = close();
		for (const response of held) response.end("late");
		await closed;
		await connection.closed;
		expect(connection.text()).toContain("late");
	});

	it.each([
		["is not answered", "/never", ""],
		["whose answer nobody reads", "/large", ""],
		["became something else", "/upgrade", "Connection: Upgrade\r\nUpgrade: WebSocket\r\n"],
	])("waits for a request that %s, and not for long", async (_, path, headers) => {
		const { connect, close, request, clock } = await startServer();
		const came = request(path);
		const connection = connect();
		connection.socket.pause();
		connection.socket.write(`GET ${path} HTTP/1.1\r\nHost: here\r\n${headers}\r\n`);
		await came;
		let isClosed = false;
		const closed = close().then(() => {
			isClosed = true;
		});
		clock.advance(patience - 1);
		await new Promise((resolve) => setImmediate(resolve));
		expect(isClosed).toBe(false);
		clock.advance(1);
		await closed;
		connection.socket.resume();
		await connection.closed;
		expect(clock.waiting()).toBe(0);
	});

	it.each([
		["did not begin", ""],
		["is not finished", halfHello],
	])("cuts a connection at once whose handshake %s", async (_, bytes) => {
		const { connect, close, settled } = await startServer(true);
		const connection = connect(bytes);
		await settled();
		await close();
		await connection.closed;
		expect(connection.socket.destroyed).toBe(true);
	});

	it("cuts a connection at once whose request over HTTPS is not whole", async () => {
		const { port, close, settled, request } = await startServer(true);
		const came = request("/read");
		const sockets = [`${post}123`, "GET /n"].map((bytes) => {
			const socket = connectSecure({ port, host: "127.0.0.1", rejectUnauthorized: false }, () => socket.write(bytes));
			socket.on("error", () => {});
			socket.resume();
			return socket;
		});
		const gone = sockets.map((socket) => new Promise((resolve) => socket.once("close", resolve)));
		await came;
		await settled();
		await close();
		await Promise.all(gone);
		expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true, true]);
	});
});
