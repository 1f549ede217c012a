// Requests as `fetch` makes them: redirects, bodies, headers, and the end that an abort makes at every stage.
import { once } from "node:events";
import { describe, expect, it, onTestFinished } from "vitest";
import { collectGarbage } from "../../../test/support/host/garbage.ts";
import { plainNetworkSettings } from "../../../test/support/host/network.ts";
import { startRawServer, until } from "../../../test/support/host/raw-server.ts";
import { authorityFile, startOrigin } from "../../../test/support/host/web-servers.ts";
import { systemSockets } from "./connections/sockets.ts";
import { createNetwork, type Network } from "./network.ts";
import { toNetworkFailure } from "./network-error.ts";
import type { NetworkSettings } from "./network-settings.ts";

const resolve = async () => [{ address: "127.0.0.1", family: 4 }];

function createSubject(settings: Partial<NetworkSettings> = {}): Network {
	return createNetwork({ ...plainNetworkSettings, sockets: { ...systemSockets, resolve }, ...settings });
}

const ok = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

async function failureOf(work: Promise<unknown>) {
	return await work.then(
		() => null,
		(thrown: unknown) => toNetworkFailure(thrown).message,
	);
}

describe("a redirect", () => {
	/** Sends everything on to `/end`, which says what it was asked with. */
	async function startRedirects(status: number, location = "/end") {
		return await startRawServer((socket, text) => {
			if (!text.includes(" /start")) socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`);
			else socket.write(`HTTP/1.1 ${status} Moved\r\nlocation: ${location}\r\ncontent-length: 3\r\n\r\nabc`);
		});
	}

	it.each([
		[301, "POST", "GET", false],
		[302, "POST", "GET", false],
		[303, "POST", "GET", false],
		[303, "PUT", "GET", false],
		[301, "PUT", "PUT", true],
		[302, "DELETE", "DELETE", true],
		[307, "POST", "POST", true],
		[308, "POST", "POST", true],
	])("with status %i turns %s into %s", async (status, method, next, hasBody) => {
		const server = await startRedirects(status);
		const response = await createSubject().fetch(`${server.url}/start#part`, { method, body: "body" });
		const text = await response.text();
		expect(text.startsWith(`${next} /end HTTP/1.1`)).toBe(true);
		expect([text.endsWith("body"), /content-type/i.test(text)]).toEqual([hasBody, hasBody]);
		expect([response.url, response.redirected, response.status]).toEqual([`${server.url}/end`, true, 200]);
	});

	it("sends credentials to the same origin, and to no other", async () => {
		const server = await startRedirects(307);
		const elsewhere = await startRedirects(307, `${server.url.replace("127.0.0.1", "localhost")}/end`);
		const headers = { authorization: "secret", cookie: "secret", "x-a": "b" };
		const same = await (await createSubject().fetch(`${server.url}/start`, { headers })).text();
		expect(same).toMatch(/authorization: secret/i);
		const other = await (await createSubject().fetch(`${elsewhere.url}/start`, { headers })).text();
		expect(other).not.toContain("secret");
		expect(other).toMatch(/x-a: b/i);
	});

	it("is returned, or refused, when the request says so", async () => {
		const server = await startRedirects(302);
		const { fetch } = createSubject();
		const response = await fetch(`${server.url}/start`, { redirect: "manual" });
		expect([response.status, response.headers.get("location"), await response.text()]).toEqual([302, "/end", "abc"]);
		expect(await failureOf(fetch(`${server.url}/start`, { redirect: "error" }))).toMatch(/redirects/);
	});

	it.each([
		["/start", "more than 20 times"],
		["http://", "an invalid address"],
		["ftp://a.test/", "ftp:"],
		["http://a:b@c.test/", "user name"],
	])("to %s fails", async (location, message) => {
		const server = await startRedirects(302, location);
		expect(await failureOf(createSubject().fetch(`${server.url}/start`))).toContain(message);
	});

	it("fails when the body cannot be sent again", async () => {
		const server = await startRedirects(307);
		const body = new Blob(["x"]).stream();
		const failing = createSubject().fetch(`${server.url}/start`, { method: "POST", body, duplex: "half" });
		expect(await failureOf(failing)).toContain("sent twice");
	});
});

describe("a request", () => {
	it.each([
		["a string", "ab", "text/plain;charset=UTF-8"],
		["bytes", Buffer.from("ab"), null],
		["a view", new DataView(new Uint8Array([97, 98]).buffer), null],
		["a buffer", new Uint8Array([97, 98]).buffer, null],
		["parameters", new URLSearchParams({ ab: "" }), "application/x-www-form-urlencoded;charset=UTF-8"],
		["a blob", new Blob(["ab"], { type: "text/x" }), "text/x"],
	])("sends %s with its length and its type", async (_name, body, type) => {
		const server = await startRawServer((socket) => socket.write(ok));
		await createSubject().fetch(server.url, { method: "post", body });
		const { text = "" } = server.requests[0] ?? {};
		expect(text).toMatch(/^POST \/ HTTP/);
		expect(text).toMatch(/content-length: [23]\r\n/);
		expect(/content-type: (.*)\r\n/.exec(text)?.[1] ?? null).toBe(type);
		expect(text).toMatch(/\r\n\r\nab=?$/);
	});

	it("sends a user agent and the accepted encodings", async () => {
		const server = await startRawServer((socket) => socket.write(ok));
		await createSubject().fetch(server.url, { headers: { Accept: "x/y" } });
		expect(server.requests[0]?.text.split("\r\n")).toEqual([
			"GET / HTTP/1.1",
			`host: ${server.url.slice(7)}`,
			"accept: x/y",
			"accept-encoding: gzip, deflate, br",
			"user-agent: agentwire",
			"connection: keep-alive",
			"",
			"",
		]);
	});

	it("streams a body, and cancels the rest when the answer arrives first", async () => {
		let finish = () => {};
		const finished = new Promise<void>((done) => {
			finish = done;
		});
		const origin = await startOrigin(async (request, response) => {
			const [piece] = await once(request, "data");
			response.end(`got ${piece}`);
		});
		onTestFinished(() => origin.close());
		const body = new ReadableStream({
			start: (controller) => controller.enqueue(new TextEncoder().encode("first")),
			cancel: finish,
		});
		const url = `http://a.test:${origin.port}`;
		const response = await createSubject().fetch(url, { method: "POST", body, duplex: "half" });
		expect(await response.text()).toBe("got first");
		await finished;
	});

	it("fails with the error of its body", async () => {
		const server = await startRawServer(() => {});
		const body = new ReadableStream({
			pull() {
				throw new Error("no more of it");
			},
		});
		const failing = createSubject().fetch(server.url, { method: "POST", body, duplex: "half" });
		expect(await failureOf(failing)).toBe("no more of it");
	});

	it.each([
		["file:///etc/passwd", {}, /file:/],
		["http://a.test:25/", {}, /bad port/],
		["http://a:b@c.test/", {}, /user name/],
		["nowhere", {}, /Invalid URL/],
		["http://a.test/", { method: "a b" }, /method/],
		["http://a.test/", { method: "CONNECT" }, /CONNECT/],
		["http://a.test/", { body: "x" }, /without a body/],
		["http://a.test/", { headers: { "transfer-encoding": "chunked" } }, /transfer-encoding/],
		["http://a.test/", { headers: { "content-length": "7" } }, /content-length/],
	])("that is invalid is not sent: %s %j", async (url, init, message) => {
		const dialled = { ...systemSockets, resolve: () => Promise.reject(new Error("asked for")) };
		expect(await failureOf(createSubject({ sockets: dialled }).fetch(url, init))).toMatch(message);
	});
});

describe("an abort", () => {
	const reason = new Error("enough");
	/** Milliseconds in which a socket is to be gone. */
	const soon = 100;

	it("before the request prevents it", async () => {
		await expect(createSubject().fetch("http://a.test", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
	});

	it("cancels the resolution of a name", async () => {
		const controller = new AbortController();
		const sockets = { ...systemSockets, resolve: () => new Promise<never>(() => {}) };
		const failing = createSubject({ sockets }).fetch("http://a.test", { signal: controller.signal });
		setImmediate(() => controller.abort(reason));
		await expect(failing).rejects.toBe(reason);
	});

	it.each([
		["TLS is agreed on", "https", () => {}],
		["the answer is awaited", "http", () => {}],
	])("closes the connection while %s", async (_name, scheme, answer) => {
		const server = await startRawServer(answer);
		const controller = new AbortController();
		const url = server.url.replace("http", scheme);
		const failing = createSubject({ caFile: null }).fetch(url, { signal: controller.signal });
		failing.catch(() => {});
		await until(() => server.requests.length > 0);
		const aborted = performance.now();
		controller.abort(reason);
		await expect(failing).rejects.toBe(reason);
		await server.requests[0]?.closed;
		expect(performance.now() - aborted).toBeLessThan(soon);
	});

	it.each([
		["is read", true],
		["waits for its reader", false],
	])("closes the connection while the body %s", async (_name, isRead) => {
		const server = await startRawServer((socket) => {
			socket.write("HTTP/1.1 200 OK\r\n\r\n");
			socket.write(Buffer.alloc(isRead ? 10 : 1_000_000, "x"));
		});
		const controller = new AbortController();
		const response = await createSubject().fetch(server.url, { signal: controller.signal });
		const reader = response.body?.getReader();
		await reader?.read();
		const next = isRead ? reader?.read() : null;
		next?.catch(() => {});
		await new Promise((done) => setTimeout(done, 10));
		const aborted = performance.now();
		controller.abort(reason);
		await server.requests[0]?.closed;
		expect(performance.now() - aborted).toBeLessThan(soon);
		await expect(next ?? reader?.read()).rejects.toBe(reason);
	});

	it("leaves the connection of a completely received answer to the next request", async () => {
		const server = await startRawServer((socket) => socket.write(ok));
		const { fetch } = createSubject();
		for (let round = 0; round < 3; round += 1) {
			const controller = new AbortController();
			await fetch(server.url, { signal: controller.signal });
			controller.abort();
			await new Promise((done) => setTimeout(done, 5));
		}
		expect(server.connections()).toBe(1);
	});
});

describe("an answer", () => {
	it("that is garbage-collected closes its connection", async () => {
		const server = await startRawServer((socket) => {
			socket.write("HTTP/1.1 200 OK\r\n\r\n");
			socket.write(Buffer.alloc(1_000_000));
		});
		const { fetch } = createSubject();
		await (async () => void (await (await fetch(server.url)).body?.getReader().read()))();
		while (server.open() > 0) {
			collectGarbage();
			await new Promise((done) => setTimeout(done, 5));
		}
		expect([server.requests.length, server.open()]).toEqual([1, 0]);
	});

	it("that was read to its end is garbage-collected, even if the reason of a later abort references it", async () => {
		const server = await startRawServer((socket) => void socket.end(ok));
		const { fetch } = createSubject();
		const ask = async () => {
			const controller = new AbortController();
			const response = await fetch(server.url, { signal: controller.signal });
			await response.text();
			controller.abort({ response });
			return new WeakRef(response);
		};
		const response = await ask();
		// A reference that was looked up holds until the end of the task.
		do {
			await new Promise((done) => setTimeout(done, 5));
			collectGarbage();
		} while (response.deref() !== undefined);
		expect(server.requests).toHaveLength(1);
	});

	it("can be cancelled by its reader", async () => {
		const server = await startRawServer((socket) => socket.write("HTTP/1.1 200 OK\r\n\r\nabc"));
		const response = await createSubject().fetch(server.url);
		await response.body?.cancel();
		await server.requests[0]?.closed;
		expect([server.requests.length, server.open()]).toEqual([1, 0]);
	});

	it("over TLS resumes the session of the previous one", async () => {
		let resumed = 0;
		const origin = await startOrigin((request, response) => {
			if ("isSessionReused" in request.socket && typeof request.socket.isSessionReused === "function")
				resumed += request.socket.isSessionReused() ? 1 : 0;
			response.writeHead(200, { connection: "close" }).end("hello");
		}, true);
		onTestFinished(() => origin.close());
		const { readFile } = await import("node:fs/promises");
		const { fetch } = createSubject({ caFile: authorityFile, readFile: (file) => readFile(file) });
		for (let round = 0; round < 3; round += 1) {
			expect(await (await fetch(`https://model.test:${origin.port}/`)).text()).toBe("hello");
		}
		expect(resumed).toBe(2);
	});
});
