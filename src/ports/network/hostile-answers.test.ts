// Answers that are wrong, cut, endless or more than was asked for, in bytes: each ends as an answer or as an error.
import { setTimeout as pause } from "node:timers/promises";
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { plainNetworkSettings } from "../../../test/support/host/network.ts";
import { startRawServer, until } from "../../../test/support/host/raw-server.ts";
import type { AddressRule } from "./address-rule.ts";
import { createNetwork, type GuardOptions } from "./network.ts";
import { toNetworkFailure } from "./network-error.ts";
import type { Fetch } from "./network-settings.ts";

const uncaught: unknown[] = [];
const note = (thrown: unknown) => void uncaught.push(thrown);
beforeAll(() => void process.on("uncaughtException", note));
afterAll(() => {
	process.off("uncaughtException", note);
	expect(uncaught).toEqual([]);
});

const quickBrotli = (bytes: Buffer) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });

const anywhere: AddressRule = { checkName: () => null, checkAddress: () => null };

function createFetch(options: Partial<GuardOptions> = {}): Fetch {
	const standard = { rule: anywhere, connectTimeout: 10_000, silenceTimeout: 10_000, bodyLimit: null };
	return createNetwork(plainNetworkSettings).guarded({ ...standard, ...options });
}

async function failureOf(work: Promise<unknown>) {
	return await work.then(
		(value) => ({ kind: "none", message: String(value) }),
		(thrown: unknown) => toNetworkFailure(thrown),
	);
}

/** What was read, and why no more. */
async function readAll(response: Response) {
	const reader = response.body?.getReader();
	const pieces: Uint8Array[] = [];
	try {
		for (;;) {
			const read = await reader?.read();
			if (read === undefined || read.done) return { text: Buffer.concat(pieces).toString(), failure: null };
			pieces.push(read.value);
		}
	} catch (thrown) {
		return { text: Buffer.concat(pieces).toString(), failure: toNetworkFailure(thrown) };
	}
}

const framings = {
	length: (body: Buffer) => [`HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n`, body],
	end: (body: Buffer) => ["HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n", body],
	chunks: (body: Buffer) => [
		"HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n",
		Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from("\r\n0\r\n\r\n")]),
	],
};

describe("an unread body whose connection is closed", () => {
	const cases = Object.keys(framings).flatMap((framing) =>
		[1000, 16_384, 32_768, 65_536, 200_000].flatMap((size) =>
			(["at once", "later"] as const).map((end) => [framing, size, end] as const),
		),
	);
	it.each(cases)("is complete for a later reader: by %s, %i bytes, closed %s", async (framing, size, end) => {
		const frame = framings[framing as keyof typeof framings];
		let isSent = false;
		const server = await startRawServer(async (socket) => {
			const [head = "", body = ""] = frame(Buffer.alloc(size, "x"));
			socket.write(head);
			await pause(5);
			socket.write(body);
			if (end === "later") await pause(5);
			socket.end(() => {
				isSent = true;
			});
		});
		const response = await createFetch()(server.url);
		await until(() => isSent || size > 65_536);
		// Only time shows that nothing happens.
		await pause(20);
		expect(uncaught).toEqual([]);
		expect((await response.text()).length).toBe(size);
	});
});

describe("an answer", () => {
	const ok = "HTTP/1.1 200 OK\r\n";
	it.each([
		["garbage", "oops\r\n\r\n", "the answer is not valid HTTP: "],
		["nothing", "", "the connection was closed before there was an answer"],
		["a truncated head", `${ok}a: b`, "the connection was closed before there was an answer"],
		["an endless head", `${ok}${"a: b\r\n".repeat(10_000)}\r\n`, "the headers of the answer have more than 16 KiB"],
		["one long header", `${ok}a: ${"b".repeat(20_000)}\r\n\r\n`, "the headers of the answer have more than 16 KiB"],
		["two different lengths", `${ok}content-length: 1\r\ncontent-length: 2\r\n\r\nab`, "Content-Length"],
		[
			"a length and chunked encoding",
			`${ok}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
			"the answer is not valid HTTP: ",
		],
		["a bare line feed", "HTTP/1.1 200 OK\na: b\n\n", "the answer is not valid HTTP: "],
		["too many heads before it", "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(200), "more than 100 heads"],
		[
			"another protocol",
			"HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\nab",
			"a protocol other than HTTP",
		],
	])("that is %s fails the request", async (_name, bytes, message) => {
		const server = await startRawServer((socket) => socket.end(bytes, "latin1"));
		const failure = await failureOf(createFetch()(server.url));
		expect(failure).toEqual({ kind: "connection", message: expect.stringContaining(message) });
		await server.requests[0]?.closed;
	});

	it.each([
		["shorter than declared", `${ok}content-length: 9\r\n\r\nabc`, "abc", "ended"],
		[
			"chunked and truncated",
			`${ok}transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n`,
			"abc",
			"the connection ended before the answer was complete",
		],
		[
			"a chunk without a size",
			`${ok}transfer-encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n`,
			"abc",
			"the answer is not valid HTTP: ",
		],
		[
			"a chunk too large",
			`${ok}transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n${"f".repeat(20)}\r\n`,
			"abc",
			"the answer is not valid HTTP: ",
		],
		[
			"endless chunk extensions",
			`${ok}transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n1;${"a".repeat(40_000)}`,
			"abc",
			"the answer is not valid HTTP: ",
		],
		[
			"endless trailers",
			`${ok}transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n${"a: b\r\n".repeat(10_000)}`,
			"abc",
			"the headers of the answer have more than 16 KiB",
		],
		["invalid gzip", `${ok}content-encoding: gzip\r\ncontent-length: 3\r\n\r\nabc`, "", "incorrect header check"],
		[
			"encoded too many times",
			`${ok}content-encoding: ${"gzip,".repeat(9)}\r\ncontent-length: 3\r\n\r\nabc`,
			"",
			"9 times",
		],
	])("with a body that is %s is delivered up to the fault", async (_name, bytes, text, message) => {
		const server = await startRawServer((socket) => socket.end(bytes, "latin1"));
		const response = await createFetch()(server.url).catch((thrown: unknown) => thrown);
		const read =
			response instanceof Response ? await readAll(response) : { text: "", failure: toNetworkFailure(response) };
		expect(read.text).toBe(text);
		if (message !== "ended") expect(read.failure?.message).toContain(message);
		expect(read.failure).not.toBeNull();
		await server.requests[0]?.closed;
	});

	it("that arrives without a request does not answer the next one", async () => {
		const server = await startRawServer((socket, _text, count) => {
			socket.write(`${ok}content-length: 2\r\n\r\n0${count}`);
			if (count === 1) setImmediate(() => socket.write(`${ok}content-length: 4\r\n\r\nevil`));
		});
		const fetch = createFetch();
		expect(await (await fetch(server.url)).text()).toBe("01");
		await server.requests[0]?.closed;
		expect(await (await fetch(server.url)).text()).toBe("02");
	});

	it("closes its connection when more data follows it", async () => {
		const server = await startRawServer((socket) => socket.write(`${ok}content-length: 2\r\n\r\nokrest`));
		const fetch = createFetch();
		for (const round of [0, 1]) {
			expect(await readAll(await fetch(server.url))).toEqual({ text: "ok", failure: null });
			await server.requests[round]?.closed;
		}
	});

	it.each([204, 304])("with status %i leaves its connection to the next request", async (status) => {
		const server = await startRawServer((socket) => socket.write(`HTTP/1.1 ${status} X\r\n\r\n`));
		const fetch = createFetch();
		for (let round = 0; round < 3; round += 1) {
			expect((await fetch(server.url)).status).toBe(status);
			await pause(2);
		}
		expect(server.connections()).toBe(1);
	});

	it("leaves its connection open for the time that the server declares", async () => {
		const server = await startRawServer((socket) =>
			socket.write(`${ok}keep-alive: timeout=2\r\ncontent-length: 2\r\n\r\nok`),
		);
		const fetch = createFetch();
		expect(await (await fetch(server.url)).text()).toBe("ok");
		await server.requests[0]?.closed;
	});
});

describe("a limit", () => {
	const ok = "HTTP/1.1 200 OK\r\n";

	it("ends a request without an answer, and a silent body", async () => {
		const server = await startRawServer((socket, text) => {
			if (text.includes("/begins")) socket.write(`${ok}content-length: 9\r\n\r\nabc`);
		});
		const fetch = createFetch({ silenceTimeout: 30 });
		const silent = { kind: "timeout", message: "nothing came for 0.03 s" };
		expect(await failureOf(fetch(server.url))).toEqual(silent);
		expect(await readAll(await fetch(`${server.url}/begins`))).toEqual({ text: "abc", failure: silent });
		for (const { closed } of server.requests) await closed;
	});

	it("does not apply while the reader waits", async () => {
		const server = await startRawServer((socket) => socket.write(`${ok}content-length: 3\r\n\r\nabc`));
		// Long enough for the first bytes to arrive on a busy machine.
		const response = await createFetch({ silenceTimeout: 250 })(server.url);
		await pause(400);
		expect(await response.text()).toBe("abc");
	});

	const tooLarge = { kind: "size", message: "the answer has more than 1 MiB, and was cut off" };

	it("breaks off an endless body", async () => {
		const piece = Buffer.alloc(65_536, "x");
		const server = await startRawServer((socket) => {
			socket.write(`${ok}\r\n`);
			const more = () => {
				while (!socket.destroyed && socket.write(piece));
			};
			socket.on("drain", more);
			more();
		});
		const { text, failure } = await readAll(await createFetch({ bodyLimit: 1024 * 1024 })(server.url));
		expect(failure).toEqual(tooLarge);
		expect(text.length).toBeGreaterThan(900_000);
		await server.requests[0]?.closed;
	});

	it.each([
		["gzip", gzipSync],
		["br", quickBrotli],
		["deflate", deflateSync],
	])("applies to decompressed bytes: %s", async (encoding, compress) => {
		const bomb = compress(Buffer.alloc(64 * 1024 * 1024));
		const server = await startRawServer((socket) => {
			socket.write(`${ok}content-encoding: ${encoding}\r\ncontent-length: ${bomb.length}\r\n\r\n`);
			socket.write(bomb);
		});
		const before = process.memoryUsage().arrayBuffers;
		const response = await createFetch({ bodyLimit: 1024 * 1024 })(server.url);
		await pause(50);
		// Nothing is unpacked that nobody asks for.
		expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * 1024 * 1024);
		expect((await readAll(response)).failure).toEqual(tooLarge);
	});

	it.each([
		["gzip", gzipSync],
		["x-gzip", gzipSync],
		["br", brotliCompressSync],
		["deflate", deflateSync],
		["deflate", deflateRawSync],
		["gzip, br", (bytes: Buffer) => brotliCompressSync(gzipSync(bytes))],
		["identity", (bytes: Buffer) => bytes],
		["unknown", (bytes: Buffer) => bytes],
	])("does not affect a valid encoded body: %s", async (encoding, compress) => {
		const body = compress(Buffer.from("hello ".repeat(1000)));
		const server = await startRawServer(async (socket) => {
			socket.write(`${ok}content-encoding: ${encoding}\r\ncontent-length: ${body.length}\r\n\r\n`);
			for (const byte of body) {
				socket.write(Buffer.from([byte]));
				if (byte === 0) await pause(1);
			}
		});
		const fetch = createFetch();
		for (let round = 0; round < 2; round += 1) {
			expect(await (await fetch(server.url)).text()).toBe("hello ".repeat(1000));
			await pause(2);
		}
		expect(server.connections()).toBe(1);
	});
});

describe("a faulty proxy or TLS peer", () => {
	const connected = "HTTP/1.1 200 OK\r\n\r\n";
	it.each([
		["a silent proxy", "http", ""],
		["a proxy that sends garbage", "http", "oops"],
		["a proxy with an endless head", "http", `HTTP/1.1 200 OK\r\n${"a: b\r\n".repeat(10_000)}`],
		["a proxy with informational heads", "http", "HTTP/1.1 103 Early\r\n\r\n".repeat(10)],
		["a proxy that speaks before the server", "http", `${connected}garbage`],
		["a SOCKS proxy that sends garbage", "socks5", "oops"],
		["a SOCKS proxy that closes", "socks5", "\x05\x00"],
		["a SOCKS proxy that speaks before the server", "socks5", "\x05\x00\x05\x00\x00\x01\0\0\0\0\0\0garbage"],
	])("fails the request: %s", async (_name, scheme, bytes) => {
		const server = await startRawServer((socket) => socket.end(bytes, "latin1"));
		const environment = { ALL_PROXY: server.url.replace("http:", `${scheme}:`) };
		const { fetch } = createNetwork({ ...plainNetworkSettings, environment });
		const failure = await failureOf(fetch("https://model.test/"));
		expect(["proxy", "connection"]).toContain(failure.kind);
		await server.requests[0]?.closed;
	});

	it.each([
		["nothing", ""],
		["HTTP", "HTTP/1.1 400 No\r\n\r\n"],
		["the beginning of a record", "\x16\x03\x03\x40\x00\x02"],
		["an alert", "\x15\x03\x03\x00\x02\x02\x28"],
		["many records", "\x16\x03\x03\x00\x01\x00".repeat(10_000)],
	])("fails the request when TLS is answered with %s", async (_name, bytes) => {
		const server = await startRawServer((socket) => socket.end(bytes, "latin1"));
		const failure = await failureOf(createFetch()(server.url.replace("http:", "https:")));
		expect(failure.kind).toBe("connection");
		await server.requests[0]?.closed;
	});
});
