import { mkdtemp, rm } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../base/clock.ts";
import { createDeferred } from "../../../base/deferred.ts";
import type { Sockets } from "../../network/connections/sockets.ts";
import { createAllowedHosts } from "./allowed-hosts.ts";
import { parseHttpRequest } from "./http-request.ts";
import { type HostProxy, startProxy } from "./proxy.ts";

let directory = "";
let socketPath = "";
let proxy: HostProxy | null = null;
let denied: string[] = [];
const servers: Server[] = [];

beforeEach(async () => {
	directory = await mkdtemp(path.join(tmpdir(), "proxy-"));
	socketPath = path.join(directory, "s");
	denied = [];
});

afterEach(async () => {
	await proxy?.close();
	for (const server of servers.splice(0)) server.close();
	await rm(directory, { recursive: true, force: true });
});

async function listen(server: Server): Promise<number> {
	servers.push(server);
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	return (server.address() as AddressInfo).port;
}

/** Answers every connection with what it received. */
const startEcho = () =>
	listen(
		createServer((socket) => {
			socket.on("error", () => undefined);
			socket.pipe(socket);
		}),
	);

/** Resolves names from a table and always connects to the loopback address; records where to. */
function fakeSockets(names: Record<string, string[]>): Sockets & { readonly dialed: string[] } {
	const dialed: string[] = [];
	return {
		dialed,
		async resolve(name) {
			const addresses = names[name];
			if (addresses === undefined) throw new Error("unknown name");
			return addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
		},
		dial(_host, addresses, port) {
			dialed.push(...addresses.map(({ address }) => address));
			return connect({ host: "127.0.0.1", port });
		},
	};
}

const publicNames = { "a.example": ["93.184.215.14"], "b.a.example": ["93.184.215.15"] };

async function start(allowed: readonly string[], names: Record<string, string[]> = publicNames, extra = {}) {
	const sockets = fakeSockets(names);
	proxy = await startProxy(socketPath, {
		hosts: createAllowedHosts(allowed),
		sockets,
		clock: systemClock,
		onDenied: (host, why) => denied.push(`${host} ${why}`),
		...extra,
	});
	return sockets;
}

/** Sends the pieces, one after each answer, and returns all that is received until the end. */
async function converse(pieces: readonly (string | Buffer)[], isHalfClosed = false): Promise<string> {
	const socket: Socket = connect({ path: socketPath, allowHalfOpen: true });
	let heard = "";
	const rest = [...pieces];
	const sendNext = () => {
		const piece = rest.shift();
		if (piece !== undefined) socket.write(piece, "latin1");
		if (rest.length === 0 && isHalfClosed) socket.end();
	};
	return await new Promise((resolve) => {
		socket.on("connect", sendNext);
		socket.on("data", (bytes) => {
			heard += bytes.toString("latin1");
			if (rest.length > 0) sendNext();
			else if (!isHalfClosed) socket.end();
		});
		socket.on("error", () => undefined);
		socket.on("end", () => socket.end());
		socket.on("close", () => resolve(heard));
	});
}

const socksRequest = (host: Buffer, port: number) =>
	Buffer.concat([Buffer.from([5, 1, 0, 3, host.length]), host, Buffer.from([port >> 8, port & 255])]);
const greeting = Buffer.from([5, 1, 0]);

describe("hosts", () => {
	it.each([
		["a.example", ["a.example"], true],
		["b.a.example", ["a.example"], false],
		["b.a.example", ["*.a.example"], true],
		["a.example", ["*.a.example"], false],
		["evil-a.example", ["*.a.example", "a.example"], false],
		["a.example.evil", ["a.example"], false],
		["a.example", ["A.EXAMPLE."], true],
		["a.example", [], false],
		["93.184.215.14", ["a.example"], false],
		["93.184.215.14", ["93.184.0.0/16"], true],
	])("%s with %j: %s", (host, allowed, isAllowed) => {
		expect(createAllowedHosts(allowed).checkHost(host) === null).toBe(isAllowed);
	});

	it.each([
		["127.0.0.1", false],
		["10.0.0.1", false],
		["169.254.169.254", false],
		["::1", false],
		["::ffff:10.0.0.1", false],
		["0.0.0.0", false],
		["93.184.215.14", true],
	])("a listed name may resolve to %s: %s", (address, isAllowed) => {
		expect(createAllowedHosts(["a.example"]).checkAddress(address, "a.example") === null).toBe(isAllowed);
		expect(createAllowedHosts(["a.example", `${address}`]).checkAddress(address, "a.example")).toBeNull();
	});
});

describe("requests over HTTP", () => {
	it("tunnel to an allowed host, to the address that was checked", async () => {
		const port = await startEcho();
		const sockets = await start(["a.example"]);
		const heard = await converse([`CONNECT a.example:${port} HTTP/1.1\r\nHost: x\r\n\r\n`, "ping"]);
		expect(heard).toBe("HTTP/1.1 200 Connection established\r\n\r\nping");
		expect(sockets.dialed).toEqual(["93.184.215.14"]);
	});

	it("are sent on with the path alone, the true host and without what is the proxy's", async () => {
		const seen: string[] = [];
		const server = createHttpServer((request, response) => {
			seen.push(`${request.method} ${request.url}`, ...request.rawHeaders);
			request.pipe(response);
		});
		const port = await listen(server);
		await start(["a.example"]);
		const head = `POST http://A.example:${port}/x?y HTTP/1.1\r\nHost: evil.example\r\nProxy-Authorization: z\r\n`;
		const heard = await converse([`${head}Content-Length: 4\r\n\r\nbody`]);
		expect(heard).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*body/);
		expect(seen).toEqual(["POST /x?y", "Host", `A.example:${port}`, "Content-Length", "4", "Connection", "close"]);
	});

	it("reach the host when the client ends its half right after them, and may wait long for the answer", async () => {
		const server = createServer({ allowHalfOpen: true }, (socket) => {
			let heard = "";
			socket.on("data", (bytes) => {
				heard += bytes.toString("latin1");
			});
			socket.on("end", () => socket.end(heard.slice(heard.indexOf("\r\n\r\n") + 4)));
		});
		const port = await listen(server);
		await start(["a.example"]);
		expect(await converse([`POST http://a.example:${port}/ HTTP/1.1\r\nA: b\r\n\r\nbody`], true)).toBe("body");
		expect(await converse([`CONNECT a.example:${port} HTTP/1.1\r\n\r\n\r\n\r\nearly`], true)).toMatch(
			/^HTTP\/1\.1 200 .*\r\n\r\nearly$/,
		);
	});

	it.each([
		["CONNECT evil.example:443 HTTP/1.1\r\n\r\n", "evil.example is not among the allowed domains"],
		["GET http://evil.example/ HTTP/1.1\r\n\r\n", "evil.example is not among the allowed domains"],
		["CONNECT 127.0.0.1:80 HTTP/1.1\r\n\r\n", "127.0.0.1 is not among the allowed domains"],
		["CONNECT [::1]:80 HTTP/1.1\r\n\r\n", "::1 is not among the allowed domains"],
		["CONNECT 0x7f000001:80 HTTP/1.1\r\n\r\n", "127.0.0.1 is not among the allowed domains"],
		["CONNECT near.example:80 HTTP/1.1\r\n\r\n", "near.example has an address that is not public: 127.0.0.1"],
		["CONNECT mixed.example:80 HTTP/1.1\r\n\r\n", "mixed.example has an address that is not public: 10.0.0.1"],
		["CONNECT a.example%00.evil:80 HTTP/1.1\r\n\r\n", "a.example%00.evil is not a valid host"],
	])("are refused by the rules: %j", async (request, reason) => {
		const names = { "near.example": ["127.0.0.1"], "mixed.example": ["93.184.215.14", "10.0.0.1"] };
		const sockets = await start(["a.example", "near.example", "mixed.example"], names);
		expect(await converse([request])).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n[\s\S]*The sandbox does not allow /);
		expect(denied).toEqual([reason]);
		expect(sockets.dialed).toEqual([]);
	});

	it.each([
		"nonsense\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n",
		"GET http://user@a.example/ HTTP/1.1\r\n\r\n",
		"CONNECT a.example:99999 HTTP/1.1\r\n\r\n",
		"GET http://a.example/ HTTP/1.1\r\nA: b\nHost: c\r\n\r\n",
		"GET http://a.example/ HTTP/1.1\r\n folded\r\n\r\n",
		"GET http://a.example/\0 HTTP/1.1\r\n\r\n",
		`GET http://a.example/${"x".repeat(40_000)}`,
	])("are refused as malformed: %j", async (request) => {
		const sockets = await start(["a.example"]);
		expect(await converse([request])).toMatch(/^HTTP\/1\.1 400 /);
		expect(sockets.dialed).toEqual([]);
	});

	it("report a host that cannot be reached", async () => {
		await start(["gone.example"]);
		expect(await converse(["CONNECT gone.example:80 HTTP/1.1\r\n\r\n"])).toMatch(/^HTTP\/1\.1 502 /);
		expect(denied).toEqual([]);
	});

	it("keep what comes after the head of a request", () => {
		expect(parseHttpRequest("GET HTTP://a.example HTTP/1.0\r\nA: b\r\n\r\n")).toEqual({
			host: "a.example",
			port: 80,
			head: "GET / HTTP/1.1\r\nHost: a.example\r\nA: b\r\nConnection: close\r\n\r\n",
		});
	});
});

describe("requests over SOCKS 5", () => {
	it("tunnel to an allowed host", async () => {
		const port = await startEcho();
		await start(["a.example"]);
		const heard = await converse([greeting, socksRequest(Buffer.from("a.example"), port), "ping"]);
		expect(heard).toBe("\x05\x00\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00ping");
	});

	it.each([
		["another host", Buffer.from("evil.example"), "evil.example is not among the allowed domains"],
		[
			"a host with a zero byte",
			Buffer.from("evil.example\0.a.example"),
			"evil.example\\u0000.a.example is not a valid host",
		],
		["a zero byte after an allowed host", Buffer.from("a.example\0"), "a.example\\u0000 is not a valid host"],
		["an address as a name", Buffer.from("127.0.0.1"), "127.0.0.1 is not among the allowed domains"],
		["an empty host", Buffer.from(""), " is not a valid host"],
	])("are refused: %s", async (_name, host, reason) => {
		const sockets = await start(["a.example", "*.a.example"]);
		const heard = await converse([greeting, socksRequest(host, 80)]);
		expect(heard).toBe("\x05\x00\x05\x02\x00\x01\x00\x00\x00\x00\x00\x00");
		expect(denied).toEqual([reason]);
		expect(sockets.dialed).toEqual([]);
	});

	it.each([
		["an IPv4 address", Buffer.from([5, 1, 0, 1, 127, 0, 0, 1, 0, 80]), 2],
		["an IPv6 address", Buffer.from([5, 1, 0, 4, ...Buffer.alloc(15), 1, 0, 80]), 2],
		["another command", Buffer.from([5, 3, 0, 1, 127, 0, 0, 1, 0, 80]), 7],
		["another kind of address", Buffer.from([5, 1, 0, 9, 0, 0]), 8],
	])("are refused: %s", async (_name, request, reply) => {
		const sockets = await start(["a.example"]);
		expect((await converse([greeting, request])).charCodeAt(3)).toBe(reply);
		expect(sockets.dialed).toEqual([]);
	});
});

describe("bounds", () => {
	it("end a beginning that takes too long, and a connection without traffic", async () => {
		const port = await startEcho();
		await start(["a.example"], publicNames, { startTimeout: 50, idleTimeout: 50 });
		expect(await converse(["CONNECT a.exam"])).toBe("");
		expect(await converse([`CONNECT a.example:${port} HTTP/1.1\r\n\r\n`, ""])).toContain("200");
	});

	it("connect to no host for a client that is gone before its name is resolved, as with the end of the proxy", async () => {
		const sockets = fakeSockets(publicNames);
		const asked = createDeferred<void>();
		const known = createDeferred<void>();
		const resolved = createDeferred<void>();
		const resolve: Sockets["resolve"] = async (name) => {
			asked.resolve();
			await known.promise;
			setImmediate(resolved.resolve);
			return await sockets.resolve(name);
		};
		await start(["a.example"], publicNames, { sockets: { ...sockets, resolve } });
		const ended = converse(["CONNECT a.example:80 HTTP/1.1\r\n\r\n"]);
		await asked.promise;
		await proxy?.close();
		known.resolve();
		await resolved.promise;
		expect(sockets.dialed).toEqual([]);
		expect(await ended).toBe("");
	});

	it("refuse connections above the limit", async () => {
		await start(["a.example"], publicNames, { connectionLimit: 1 });
		const first = connect({ path: socketPath });
		await new Promise<void>((resolve) => first.once("connect", resolve));
		expect(await converse(["CONNECT evil.example:80 HTTP/1.1\r\n\r\n"])).toBe("");
		first.destroy();
	});
});
