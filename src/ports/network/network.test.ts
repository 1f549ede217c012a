// Requests over real sockets on loopback: straight, through each kind of proxy, with certificates, and under a rule.
import { readFile } from "node:fs/promises";
import { afterEach, describe, expect, it } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import { collectGarbage } from "../../../test/support/host/garbage.ts";
import { plainNetworkSettings } from "../../../test/support/host/network.ts";
import { startRawServer } from "../../../test/support/host/raw-server.ts";
import {
	authorityFile,
	startHttpProxy,
	startOrigin,
	startSocksProxy,
	type WebServer,
} from "../../../test/support/host/web-servers.ts";
import type { AddressRule } from "./address-rule.ts";
import { type Sockets, systemSockets } from "./connections/sockets.ts";
import { createNetwork, type Network } from "./network.ts";
import { toNetworkFailure } from "./network-error.ts";
import type { NetworkSettings } from "./network-settings.ts";

const servers: WebServer[] = [];
afterEach(async () => {
	for (const server of servers.splice(0)) await server.close();
});

async function started<Kind extends WebServer>(starting: Promise<Kind>): Promise<Kind> {
	const server = await starting;
	servers.push(server);
	return server;
}

/** Every name is this machine. */
const loopbackNames: Sockets = {
	...systemSockets,
	resolve: async () => [{ address: "127.0.0.1", family: 4 }],
};

const readAny = (file: string) => readFile(file).catch(() => null);

function createSubject(settings: Partial<NetworkSettings> = {}): Network {
	return createNetwork({ ...plainNetworkSettings, sockets: loopbackNames, readFile: readAny, ...settings });
}

async function textOf(network: Network, url: string, init: RequestInit = {}): Promise<string> {
	return await (await network.fetch(url, init)).text();
}

async function failureOf(work: Promise<unknown>) {
	return await work.then(
		() => null,
		(thrown: unknown) => toNetworkFailure(thrown),
	);
}

describe("a request", () => {
	it("reaches its host, with method, headers and body", async () => {
		const origin = await started(
			startOrigin(async (request, response) => {
				const pieces: Buffer[] = [];
				for await (const piece of request) pieces.push(piece);
				response.end(`${request.method} ${request.headers["x-a"]} ${Buffer.concat(pieces)}`);
			}),
		);
		const headers = new Headers({ "X-A": "b" });
		const url = new URL(`http://a.test:${origin.port}/path?q`);
		const response = await createSubject().fetch(url, { method: "POST", headers, body: "ünï" });
		expect(await response.text()).toBe("POST b ünï");
		expect(origin.requests).toEqual([{ method: "POST", path: "/path?q", host: `a.test:${origin.port}` }]);
	});

	it("can have a form of the platform as its body", async () => {
		let type = "";
		const origin = await started(
			startOrigin((request, response) => {
				type = request.headers["content-type"] ?? "";
				response.end();
			}),
		);
		const body = new FormData();
		body.append("file", new Blob(["x"]), "x.txt");
		await createSubject().fetch(`http://a.test:${origin.port}`, { method: "POST", body });
		expect(type).toMatch(/^multipart\/form-data; boundary=/);
	});

	it("leaves its connection to the next one", async () => {
		const origin = await started(startOrigin());
		const network = createSubject();
		for (let count = 0; count < 4; count += 1) {
			await textOf(network, `http://a.test:${origin.port}/`);
			await new Promise((resolve) => setImmediate(resolve));
		}
		expect(origin.connections()).toBeLessThan(3);
	});

	it.each([
		[200, "hello", true],
		[204, "", true],
		[304, "", false],
		[418, "hello", false],
		[999, "hello", false],
	])("is answered by a Response of the platform: HTTP %i", async (status, text, ok) => {
		const origin = await started(
			startOrigin((_request, response) => response.writeHead(status, { "x-a": "b" }).end("hello")),
		);
		const url = `http://a.test:${origin.port}/`;
		const response = await createSubject().fetch(url);
		expect(response).toBeInstanceOf(Response);
		expect([response.status, response.ok, response.url, response.headers.get("x-a")]).toEqual([status, ok, url, "b"]);
		expect(await response.text()).toBe(text);
	});

	it("retains the body of its answer across garbage collection", async () => {
		let finish = () => {};
		const origin = await started(
			startOrigin((_request, response) => {
				response.writeHead(200).write("hel");
				finish = () => response.end("lo");
			}),
		);
		const response = await createSubject().fetch(`http://a.test:${origin.port}/`);
		for (let round = 0; round < 3; round += 1) {
			collectGarbage();
			await new Promise((resolve) => setImmediate(resolve));
		}
		finish();
		expect(await response.text()).toBe("hello");
	});

	it("is refused when it is a Request object", async () => {
		await expect(createSubject().fetch(new Request("http://a.test"))).rejects.toThrow(TypeError);
	});

	it("reports the system's error for a refused connection", async () => {
		const origin = await startOrigin();
		await origin.close();
		expect(await failureOf(createSubject().fetch(`http://a.test:${origin.port}`))).toEqual({
			kind: "connection",
			message: `connect ECONNREFUSED 127.0.0.1:${origin.port}`,
		});
	});

	it("says that no client makes requests to a port of another protocol", async () => {
		expect(await failureOf(createSubject().fetch("http://example.com:25/"))).toEqual({
			kind: "configuration",
			message:
				"bad port: 25 belongs to another protocol, and no HTTP client makes requests to it. Let the server listen on another one",
		});
	});

	it("has a time limit for the connection, in every phase", async () => {
		const clock = createFakeClock();
		const network = createSubject({ clock, sockets: { ...systemSockets, resolve: () => new Promise(() => {}) } });
		const failing = failureOf(network.fetch("http://a.test"));
		while (clock.waiting() === 0) await new Promise((resolve) => setImmediate(resolve));
		clock.advance(10_000);
		expect(await failing).toEqual({ kind: "timeout", message: "no connection to a.test within 10 s" });
	});
});

describe("a preconnection", () => {
	it("serves the next request, and only one is opened", async () => {
		const origin = await started(startOrigin());
		const network = createSubject();
		const url = new URL(`http://a.test:${origin.port}/v1`);
		await Promise.all([network.openConnection(url), network.openConnection(url)]);
		await network.openConnection(url);
		expect([origin.connections(), origin.requests.length]).toEqual([1, 0]);
		expect(await textOf(network, url.href)).toBe("hello");
		expect(origin.connections()).toBe(1);
	});

	it("is waited for by a request that arrives meanwhile", async () => {
		const origin = await started(startOrigin(undefined, true));
		const network = createSubject({ caFile: authorityFile });
		const url = `https://model.test:${origin.port}/`;
		const opening = network.openConnection(new URL(url));
		expect(await textOf(network, url)).toBe("hello");
		await opening;
		expect(origin.connections()).toBe(1);
	});

	it("is not used once the server has closed it, or when it is old", async () => {
		const clock = createFakeClock();
		const origin = await started(startOrigin());
		const network = createSubject({ clock });
		const url = new URL(`http://a.test:${origin.port}/`);
		await network.openConnection(url);
		clock.advance(60_000);
		expect(await textOf(network, url.href)).toBe("hello");
		expect(origin.connections()).toBe(2);
	});

	it("goes through the proxy", async () => {
		const origin = await started(startOrigin(undefined, true));
		const proxy = await started(startHttpProxy());
		const environment = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` };
		const network = createSubject({ environment, caFile: authorityFile });
		await network.openConnection(new URL(`https://model.test:${origin.port}`));
		expect(await textOf(network, `https://model.test:${origin.port}`)).toBe("hello");
		expect(proxy.requests).toHaveLength(1);
	});

	it("rejects when it fails, and is then opened again", async () => {
		const origin = await started(startOrigin());
		let fails = true;
		const resolve = async () =>
			fails ? Promise.reject(new Error("no such name")) : [{ address: "127.0.0.1", family: 4 }];
		const network = createSubject({ sockets: { ...systemSockets, resolve } });
		const url = new URL(`http://a.test:${origin.port}`);
		await expect(network.openConnection(url)).rejects.toThrow("no such name");
		fails = false;
		expect(await textOf(network, url.href)).toBe("hello");
	});
});

describe("a proxy", () => {
	it("gets http requests in full", async () => {
		const origin = await started(startOrigin());
		const proxy = await started(startHttpProxy());
		const network = createSubject({ environment: { http_proxy: `127.0.0.1:${proxy.port}` } });
		const url = `http://model.test:${origin.port}/v1?q=1`;
		expect(await textOf(network, url, { method: "POST", body: "x" })).toBe("hello");
		expect(proxy.requests).toEqual([{ method: "POST", target: url, authorization: null }]);
		expect(origin.requests).toEqual([{ method: "POST", path: "/v1?q=1", host: `model.test:${origin.port}` }]);
	});

	it.each([
		["an HTTP proxy", startHttpProxy, "http", {}],
		["an HTTP proxy that is spoken to with TLS", startHttpProxy, "https", { secure: true }],
		["a SOCKS proxy", startSocksProxy, "socks", {}],
		["a SOCKS proxy with a password", startSocksProxy, "socks5h", { credentials: "me:p@ss" }],
		["an HTTP proxy with a password", startHttpProxy, "http", { credentials: "me:p@ss" }],
	])("of the kind %s gets a tunnel request for https hosts", async (_name, start, scheme, options) => {
		const origin = await started(startOrigin(undefined, true));
		const proxy = await started(start(options));
		const user = "credentials" in options ? "me:p%40ss@" : "";
		const environment = { ALL_PROXY: `${scheme}://${user}127.0.0.1:${proxy.port}` };
		// The name means nothing to anybody but the proxy.
		const resolve = async () => Promise.reject(new Error("no name is to be resolved here"));
		const sockets = { ...systemSockets, resolve };
		const network = createSubject({ environment, caFile: authorityFile, sockets });
		expect(await textOf(network, `https://model.test:${origin.port}/`)).toBe("hello");
		expect(proxy.requests).toMatchObject([{ method: "CONNECT", target: `model.test:${origin.port}` }]);
		expect(proxy.requests[0]?.authorization === null).toBe(user === "");
	});

	it.each(["127.0.0.1", "[::1]"])("of the kind SOCKS gets the address %s in binary form", async (host) => {
		const origin = await started(startOrigin());
		const proxy = await started(startSocksProxy());
		const network = createSubject({ environment: { ALL_PROXY: `socks5://127.0.0.1:${proxy.port}` } });
		expect(await textOf(network, `http://${host}:${origin.port}/`)).toBe("hello");
		const bytes = host === "127.0.0.1" ? "127.0.0.1" : "0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.1";
		expect(proxy.requests).toMatchObject([{ target: `${bytes}:${origin.port}` }]);
	});

	it("is bypassed for the hosts of NO_PROXY", async () => {
		const origin = await started(startOrigin());
		const proxy = await started(startHttpProxy());
		const environment = { HTTP_PROXY: `http://127.0.0.1:${proxy.port}`, NO_PROXY: "model.test" };
		const network = createSubject({ environment });
		expect(await textOf(network, `http://model.test:${origin.port}`)).toBe("hello");
		expect(proxy.connections()).toBe(0);
		expect(await network.proxyVariable(new URL("http://model.test"))).toBeNull();
		expect(await network.proxyVariable(new URL("http://other.test"))).toBe("HTTP_PROXY");
	});

	it("is chosen again for each hop of a redirect", async () => {
		const target = await started(startOrigin());
		const origin = await started(
			startOrigin((_request, response) =>
				response.writeHead(302, { location: `http://b.test:${target.port}/x` }).end(),
			),
		);
		const proxy = await started(startHttpProxy());
		const environment = { HTTP_PROXY: `http://127.0.0.1:${proxy.port}`, NO_PROXY: "a.test" };
		expect(await textOf(createSubject({ environment }), `http://a.test:${origin.port}/`)).toBe("hello");
		expect(proxy.requests).toMatchObject([{ target: `http://b.test:${target.port}/x` }]);
	});

	const wantsPassword = { credentials: "me:other" };
	it.each([
		["http", "http", () => startHttpProxy(wantsPassword), /wants a user name and a password \(407/],
		["https", "http", () => startHttpProxy(wantsPassword), /wants a user name and a password \(407/],
		["https", "http://me:secret", () => startHttpProxy(wantsPassword), /refuses the user name or the password \(407/],
		["https", "http", () => startHttpProxy({ status: 403 }), /refuses a connection to model.test:4443: 403/],
		["https", "socks5", () => startSocksProxy(wantsPassword), /wants a user name and a password/],
		["https", "socks5://me:secret", () => startSocksProxy(wantsPassword), /refuses the user name or the password/],
		["https", "socks5", () => startSocksProxy({ status: 5 }), /model.test:4443: the host refuses the connection/],
		["https", "socks5", () => startSocksProxy({ status: 99 }), /model.test:4443: reply 99/],
		["https", "socks5", () => startOrigin(), /does not speak SOCKS 5/],
	])("for %s that refuses (%s) is named with its variable", async (scheme, kind, start, message) => {
		const proxy = await started<WebServer>(start());
		const variable = scheme === "http" ? "HTTP_PROXY" : "HTTPS_PROXY";
		const prefix = kind.includes("//") ? `${kind}@` : `${kind}://`;
		const environment = { [variable]: `${prefix}127.0.0.1:${proxy.port}` };
		const failure = await failureOf(createSubject({ environment }).fetch(`${scheme}://model.test:4443/`));
		expect(failure).toEqual({ kind: "proxy", message: expect.stringMatching(message) });
		expect(failure?.message).toContain(variable);
		expect(failure?.message).not.toContain("secret");
	});

	it.each([
		["http", "http", "closes the connection", "", "the connection was closed before there was an answer"],
		["https", "http", "closes the connection", "", "the connection was closed before there was an answer"],
		["https", "http", "is no proxy", "SSH-2.0-OpenSSH\r\n\r\n", "the answer is not valid HTTP: Expected HTTP/"],
		[
			"https",
			"http",
			"opens a tunnel to nowhere",
			"HTTP/1.1 200 OK\r\n\r\n",
			"the connection was closed before TLS was set up",
		],
		["https", "https", "does not speak TLS", "HTTP/1.1 400 Bad\r\n\r\n", "the server does not speak TLS on this port"],
	])("for %s over %s that %s is named with its variable", async (scheme, kind, _name, answer, message) => {
		const proxy = await startRawServer((socket) => socket.end(answer));
		const environment = { ALL_PROXY: proxy.url.replace("http:", `${kind}:`) };
		const failure = await failureOf(createSubject({ environment }).fetch(`${scheme}://model.test:4443/`));
		expect(failure?.message).toContain(message);
		expect(failure?.message).toMatch(/ \(through the proxy of ALL_PROXY\)$/);
	});

	it.each(["http", "https"])("for %s that cannot be reached is named with its variable", async (scheme) => {
		const origin = await startOrigin();
		await origin.close();
		const environment = { ALL_PROXY: `http://127.0.0.1:${origin.port}` };
		const failure = await failureOf(createSubject({ environment }).fetch(`${scheme}://model.test/`));
		expect(failure?.message).toMatch(/ECONNREFUSED.* \(through the proxy of ALL_PROXY\)$/);
	});

	it("that does not answer in time is named with its variable", async () => {
		const proxy = await startRawServer(() => clock.advance(10_000));
		const clock = createFakeClock();
		const network = createSubject({ clock, environment: { HTTPS_PROXY: proxy.url } });
		expect(await failureOf(network.fetch("https://model.test/"))).toEqual({
			kind: "timeout",
			message: "no connection to model.test within 10 s (through the proxy of HTTPS_PROXY)",
		});
	});

	it("does not change the reason of an abort", async () => {
		const controller = new AbortController();
		const proxy = await startRawServer(() => controller.abort(new Error("enough")));
		const network = createSubject({ environment: { ALL_PROXY: proxy.url } });
		for (const url of ["https://model.test/", "http://model.test/"]) {
			await expect(network.fetch(url, { signal: controller.signal })).rejects.toThrow(/^enough$/);
		}
	});

	it("that is unsupported is reported", async () => {
		const network = createSubject({ environment: { ALL_PROXY: "socks4://p" } });
		expect(await failureOf(network.fetch("http://a.test"))).toMatchObject({ kind: "configuration" });
		expect(await failureOf(network.openConnection(new URL("http://a.test")))).toMatchObject({ kind: "configuration" });
	});
});

describe("certificates", () => {
	const named = (variable: string) => ({ environment: { [variable]: authorityFile } });

	it.each([
		["agentwire.ca_file", { caFile: authorityFile }],
		["SSL_CERT_FILE", named("SSL_CERT_FILE")],
		["NODE_EXTRA_CA_CERTS", named("NODE_EXTRA_CA_CERTS")],
	])("of an authority in %s are trusted", async (_name, settings) => {
		const origin = await started(startOrigin(undefined, true));
		expect(await textOf(createSubject(settings), `https://model.test:${origin.port}/`)).toBe("hello");
	});

	it("of an unknown authority are refused with advice", async () => {
		const origin = await started(startOrigin(undefined, true));
		const failure = await failureOf(createSubject().fetch(`https://model.test:${origin.port}/`));
		expect(failure).toEqual({
			kind: "connection",
			message: expect.stringMatching(/certificate.*name the file of its certificate authority in agentwire.ca_file\.$/),
		});
	});

	it("are not what fails when the server does not speak TLS", async () => {
		const server = await startRawServer((socket) => socket.end("HTTP/1.1 400 Bad\r\n\r\n"));
		expect(await failureOf(createSubject().fetch(server.url.replace("http:", "https:")))).toEqual({
			kind: "connection",
			message: expect.stringMatching(/^the server does not speak TLS on this port; .* an http URL$/),
		});
	});

	it("of another host are refused", async () => {
		const origin = await started(startOrigin(undefined, true));
		const failure = await failureOf(createSubject({ caFile: authorityFile }).fetch(`https://b.test:${origin.port}/`));
		expect(failure?.message).toMatch(/altnames/);
	});

	it.each([
		["there is no such file", async () => null],
		["it contains no PEM certificate", async () => Buffer.from("garbage")],
		[
			"it contains no PEM certificate",
			async () => Buffer.from("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"),
		],
		["EACCES", () => Promise.reject(new Error("EACCES"))],
	])("in an unusable file are reported: %s", async (reason, readFileOf) => {
		const origin = await started(startOrigin(undefined, true));
		const url = `https://model.test:${origin.port}/`;
		const fromSetting = createSubject({ caFile: "/ca.pem", readFile: readFileOf });
		expect(await failureOf(fromSetting.fetch(url))).toEqual({
			kind: "configuration",
			message: `agentwire.ca_file: /ca.pem cannot be used: ${reason}.`,
		});
		const warnings: unknown[] = [];
		const log = { ...plainNetworkSettings.log, warn: (...warning: unknown[]) => void warnings.push(warning) };
		const environment = { SSL_CERT_FILE: "/ca.pem" };
		const fromVariable = createSubject({ environment, log, readFile: readFileOf });
		expect(await failureOf(fromVariable.fetch(url))).toMatchObject({ kind: "connection" });
		expect(warnings).toEqual([["The certificates of SSL_CERT_FILE are not used.", { file: "/ca.pem", reason }]]);
	});

	it("are read again when the setting is corrected", async () => {
		const origin = await started(startOrigin(undefined, true));
		let text: Buffer | null = null;
		const network = createSubject({ caFile: "/ca.pem", readFile: async () => text });
		const url = `https://model.test:${origin.port}/`;
		expect(await failureOf(network.fetch(url))).toMatchObject({ kind: "configuration" });
		text = await readFile(authorityFile);
		expect(await textOf(network, url)).toBe("hello");
	});

	it("are not read for requests without TLS", async () => {
		const origin = await started(startOrigin());
		const network = createSubject({ caFile: "/ca.pem", readFile: () => Promise.reject(new Error("read")) });
		expect(await textOf(network, `http://a.test:${origin.port}/`)).toBe("hello");
	});
});

describe("an address rule", () => {
	const options = { connectTimeout: 1000, silenceTimeout: 1000, bodyLimit: null };
	const rule: AddressRule = {
		checkName: (name) => (name === "bad.test" ? "bad.test is bad" : null),
		checkAddress: (address, host) => (address === "127.0.0.1" ? null : `${host} is at ${address}`),
	};

	it("is applied to every address of a name before a connection", async () => {
		const dialled: string[] = [];
		const sockets: Sockets = {
			resolve: async () => [
				{ address: "127.0.0.1", family: 4 },
				{ address: "10.0.0.1", family: 4 },
			],
			dial: (host, addresses, port) => {
				dialled.push(host);
				return systemSockets.dial(host, addresses, port);
			},
		};
		const guarded = createSubject({ sockets }).guarded({ ...options, rule });
		expect(await failureOf(guarded("http://a.test"))).toEqual({ kind: "address", message: "a.test is at 10.0.0.1" });
		expect(await failureOf(guarded("http://10.0.0.9"))).toEqual({
			kind: "address",
			message: "10.0.0.9 is at 10.0.0.9",
		});
		expect(await failureOf(guarded("http://bad.test"))).toEqual({ kind: "address", message: "bad.test is bad" });
		expect(dialled).toEqual([]);
	});

	it("pins the checked address", async () => {
		const origin = await started(startOrigin());
		let asked = 0;
		const resolve = async () => {
			asked += 1;
			return [{ address: asked === 1 ? "127.0.0.1" : "10.0.0.1", family: 4 }];
		};
		const guarded = createSubject({ sockets: { ...systemSockets, resolve } }).guarded({ ...options, rule });
		expect(await (await guarded(`http://a.test:${origin.port}`)).text()).toBe("hello");
		expect(asked).toBe(1);
	});

	it("is applied again after a redirect", async () => {
		const origin = await started(
			startOrigin((_request, response) => response.writeHead(302, { location: "http://10.0.0.1/" }).end()),
		);
		const guarded = createSubject().guarded({ ...options, rule });
		expect(await failureOf(guarded(`http://a.test:${origin.port}`))).toMatchObject({ kind: "address" });
	});

	it.each(["http", "socks5"])(
		"is applied to names and literal addresses that a proxy of the kind %s resolves",
		async (kind) => {
			const origin = await started(startOrigin());
			const proxy = await started(kind === "http" ? startHttpProxy() : startSocksProxy());
			const environment = { ALL_PROXY: `${kind}://127.0.0.1:${proxy.port}` };
			const guarded = createSubject({ environment }).guarded({ ...options, rule });
			expect(await (await guarded(`http://a.test:${origin.port}`)).text()).toBe("hello");
			const before = proxy.requests.length;
			expect(await failureOf(guarded("http://10.0.0.1/"))).toMatchObject({ kind: "address" });
			expect(await failureOf(guarded("http://bad.test/"))).toMatchObject({ kind: "address" });
			expect(proxy.requests).toHaveLength(before);
		},
	);
});
