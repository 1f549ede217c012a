// The bounds of the gateway's connections, filled: what is beyond them is refused, and those that were there go on.
import { once } from "node:events";
import { get } from "node:https";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { createStage, runsOnBun } from "../support/executable/executable.ts";
import { GatewayClient, isEvent } from "../support/gateway/gateway-client.ts";
import { sendRaw } from "../support/gateway/raw-client.ts";
import { readTokens } from "../support/gateway/token-file.ts";

/** As documented. */
const connectionLimit = 1024;
const handshakeLimit = 128;

async function startServer(scripts: readonly string[], ...flags: string[]) {
	const stage = createStage({ scripts: [...scripts] });
	const server = stage.serve("serve", "--json", "--port", "0", ...flags);
	const [line] = await server.readUntil(() => true);
	const { url } = line as unknown as { url: string };
	const port = Number(new URL(url).port);
	return { server, port, token: readTokens(path.join(stage.shareDir, "gateway.json")).control ?? "" };
}

function connectRaw(port: number, bytes = "") {
	const connection = sendRaw(port, bytes);
	onTestFinished(() => void connection.socket.destroy());
	return connection;
}

describe("agentwire serve with as many connections as there may be", () => {
	it("closes a further one without an answer, goes on with the others, and takes the next once there is room", async () => {
		const { port, token } = await startServer(["text: done"]);
		const client = new GatewayClient(port, token);
		const sessionId = await client.createSession();
		const stream = await client.stream(`sessions=${sessionId}`);
		await stream.until(({ name }) => name === "state");
		// Bodies that come slowly hold a connection for longest.
		const start = (body: string) =>
			`POST /rpc HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
		const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "turn.start", params: { sessionId, input: "go" } });
		const holders = Array.from({ length: connectionLimit - 1 }, () =>
			connectRaw(port, start(body) + body.slice(0, 10)),
		);
		await Promise.all(holders.map(({ socket }) => (socket.connecting ? once(socket, "connect") : null)));
		const beyond = connectRaw(port, `GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
		await beyond.closed;
		expect(beyond.text()).toBe("");
		// One of them goes on to the end of its body, and the stream with what that does.
		const [first, second] = holders;
		first?.socket.write(body.slice(10));
		await first?.until((text) => text.includes('"result"'));
		await stream.until(isEvent("turn.ended"));
		expect(holders.filter(({ socket }) => socket.destroyed)).toEqual([]);
		second?.socket.destroy();
		await expect
			.poll(async () => {
				const next = connectRaw(port, `GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`);
				await next.closed;
				return next.statuses();
			})
			.toEqual([200]);
	});

	it("answers requests that offer HTTP/2 as if they did not", async () => {
		const { port, token } = await startServer([]);
		const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "sessions.list", params: {} });
		const head = (text: string, ...headers: readonly string[]) =>
			[
				text,
				`Host: 127.0.0.1:${port}`,
				`Authorization: Bearer ${token}`,
				"Connection: Upgrade, HTTP2-Settings",
				"Upgrade: h2c",
				"HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA",
				...headers,
				"",
				"",
			].join("\r\n");
		const health = connectRaw(port, head("GET /healthz HTTP/1.1"));
		const length = `Content-Length: ${body.length}`;
		const call = connectRaw(port, head("POST /rpc HTTP/1.1", "Content-Type: application/json", length) + body);
		await Promise.all([health.closed, call.closed]);
		expect([health.statuses(), call.statuses()]).toEqual([[200], [200]]);
		expect(call.text()).toContain('"result"');
	});

	it("ends within its time and with code 0, whatever its clients have begun and not finished", async () => {
		const { server, port, token } = await startServer(["text: done"]);
		const client = new GatewayClient(port, token);
		const sessionId = await client.createSession();
		const line = (text: string, ...headers: readonly string[]) =>
			[text, `Host: 127.0.0.1:${port}`, `Authorization: Bearer ${token}`, ...headers, "", ""].join("\r\n");
		const upgrade = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"];
		const kinds: readonly (readonly [count: number, bytes: string])[] = [
			[200, ""],
			[300, "GET /healthz HTTP/1.1\r\nHost: 127"],
			[200, `${line("POST /rpc HTTP/1.1", "Content-Type: application/json", "Content-Length: 99")}{`],
			[100, line("GET /healthz HTTP/1.1")],
			[100, line(`GET /events?sessions=${sessionId} HTTP/1.1`)],
			[20, line("GET /acp HTTP/1.1", ...upgrade, `Sec-WebSocket-Key: ${"A".repeat(22)}==`)],
		];
		const connections = kinds.flatMap(([count, bytes]) => Array.from({ length: count }, () => connectRaw(port, bytes)));
		// Nobody reads what is answered.
		for (const { socket } of connections) socket.pause();
		await Promise.all(connections.map(({ socket }) => (socket.connecting ? once(socket, "connect") : null)));
		expect(await client.send({ path: "/healthz" })).toMatchObject({ status: 200 });
		server.kill("SIGTERM");
		expect(await server.exited).toBe(0);
	});

	it("gives up the oldest handshakes of HTTPS that are not finished, so that others can begin", async () => {
		const fixtures = fileURLToPath(new URL("../fixtures/tls", import.meta.url));
		const tls = ["--tls-cert", path.join(fixtures, "server.pem"), "--tls-key", path.join(fixtures, "server-key.pem")];
		const { server, port } = await startServer([], ...tls);
		const silent = Array.from({ length: handshakeLimit + 50 }, () => connectRaw(port));
		// Bun shows a connection when its handshake is over: there, time alone bounds those that are not finished.
		if (!runsOnBun) {
			await Promise.all(silent.slice(0, 50).map(({ closed }) => closed));
			expect(silent.filter(({ socket }) => !socket.destroyed)).toHaveLength(handshakeLimit);
		}
		const status = await new Promise((resolve, reject) => {
			const request = get({ host: "127.0.0.1", port, path: "/healthz", rejectUnauthorized: false }, (response) => {
				response.resume();
				resolve(response.statusCode);
			});
			request.on("error", reject);
		});
		expect(status).toBe(200);
		// Those that are left hold up nothing.
		server.kill("SIGTERM");
		expect(await server.exited).toBe(0);
	});
});
