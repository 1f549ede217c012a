// What FetchURL makes of answers, over a network in which every name is an origin on loopback.
import { once } from "node:events";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFakeClock, type FakeClock } from "../../../../test/support/host/campaign-clock.ts";
import { plainNetworkSettings } from "../../../../test/support/host/network.ts";
import {
	briefOf,
	call,
	createToolPlace,
	prepareCall,
	type ToolPlace,
} from "../../../../test/support/host/tool-environment.ts";
import { type Answer, type Origin, startOrigin } from "../../../../test/support/host/web-servers.ts";
import { systemSockets } from "../../../ports/network/connections/sockets.ts";
import { createNetwork } from "../../../ports/network/network.ts";
import type { Tool, WebService } from "../tool.ts";
import { createFetchUrl, type FetchLimits } from "./fetch-url.ts";

const limits: FetchLimits = {
	total: 180_000,
	silence: 60_000,
	connect: 15_000,
	service: 60_000,
	redirects: 3,
	bytes: 1024 * 1024,
};

let place: ToolPlace;
let origin: Origin;
let clock: FakeClock;
let answer: Answer;
beforeEach(async () => {
	place = await createToolPlace();
	origin = await startOrigin((request, response) => answer(request, response));
	clock = createFakeClock();
});
afterEach(async () => {
	await origin.close();
	await place.remove();
});

function createTool(service: WebService | null = null, changes: Partial<FetchLimits> = {}): Tool {
	const network = createNetwork({
		...plainNetworkSettings,
		sockets: { ...systemSockets, resolve: async () => [{ address: "127.0.0.1", family: 4 }] },
	});
	const web = { ...place.environment.web, network, allowed: ["127.0.0.1"], fetchService: service };
	return createFetchUrl({ ...place.environment, web, clock }, { ...limits, ...changes });
}

const address = (path = "/page", host = "site.test") => `http://${host}:${origin.port}${path}`;

function send(body: string | Uint8Array, headers: Record<string, string> = {}, status = 200): Answer {
	return (_request, response) => response.writeHead(status, headers).end(body);
}

const html = "<html><head><title>A page</title></head><body><main><p>Its text.</p></main></body></html>";

describe("a page", () => {
	it.each([
		["text/plain", "a\n<b>"],
		["text/markdown; charset=utf-8", "# a"],
		["application/json", '{"a":1}'],
		["application/problem+json", '{"a":1}'],
		["text/csv", "a,b"],
		["application/xml", "<a/>"],
		["application/atom+xml", "<a/>"],
		["application/octet-stream", "a text"],
	])("of the type %s is returned unchanged", async (type, body) => {
		answer = send(body, { "content-type": type });
		expect(await call(createTool(), { url: address() })).toMatchObject({
			is_error: false,
			output: body,
			message: "The page is shown as it is.",
		});
	});

	it.each([["text/html"], ["application/xhtml+xml"], [undefined]])("of the type %s is parsed as HTML", async (type) => {
		answer = send(html, type === undefined ? {} : { "content-type": type });
		const result = await call(createTool(), { url: address() });
		expect(result).toMatchObject({ is_error: false, message: "This is the main text of the page." });
		expect(result.output).toMatch(/^Title: A page\nURL: http:\/\/site\.test:\d+\/page\n\n.*Its text\./s);
	});

	it("is decoded from its own encoding and compression", async () => {
		answer = send(gzipSync(Buffer.from([0xe9])), {
			"content-type": "text/plain; charset=iso-8859-1",
			"content-encoding": "gzip",
		});
		expect((await call(createTool(), { url: address() })).output).toBe("é");
	});

	it("can have lines of any length, and is truncated for the model", async () => {
		answer = send("x".repeat(60_000), { "content-type": "text/plain" });
		const { output, message } = await call(createTool(), { url: address() });
		expect(output).toHaveLength(50_000);
		expect(message).toBe("The page is shown as it is. The output was shortened to fit.");
	});

	it("that is empty is no error", async () => {
		answer = send("");
		expect(await call(createTool(), { url: address() })).toMatchObject({
			is_error: false,
			message: "The page is empty.",
			display: [{ type: "brief", text: "Empty response body" }],
		});
	});

	it.each([
		["an image", "image/png", "x"],
		["a program", "application/octet-stream", "\0x"],
		["an archive", "application/zip", "x"],
		["a page without text", "text/html", "<html><body><script>1</script></body></html>"],
	])("without text is reported: %s", async (_name, type, body) => {
		answer = send(body, { "content-type": type });
		expect(briefOf(await call(createTool(), { url: address() }))).toBe("No content extracted");
	});

	it.each([404, 403, 500, 503])("with HTTP %i is an error", async (status) => {
		answer = send("no", {}, status);
		const result = await call(createTool(), { url: address() });
		expect(briefOf(result)).toBe(`HTTP ${status} error`);
		expect(result.message).toMatch(new RegExp(`^The server answered http://site.test:\\d+/page with HTTP ${status} `));
	});

	it("is requested like a browser does", async () => {
		let agent = "";
		answer = ({ headers }, response) => {
			agent = headers["user-agent"] ?? "";
			response.end("x");
		};
		await call(createTool(), { url: address() });
		expect(agent).toMatch(/^Mozilla\/5\.0 \(.*Chrome\//);
	});
});

describe("a redirect", () => {
	it.each([301, 302, 303, 307, 308])("by HTTP %i is followed, and reported", async (status) => {
		answer = ({ url = "" }, response) => {
			if (url === "/page") response.writeHead(status, { location: "next?a=1" }).end();
			else response.writeHead(200, { "content-type": "text/plain" }).end(url);
		};
		const result = await call(createTool(), { url: address() });
		expect(result.output).toBe("/next?a=1");
		expect(result.message).toBe(`The page is shown as it is. The page is at ${address("/next?a=1")}.`);
	});

	it("too many times is not followed", async () => {
		answer = (_request, response) => response.writeHead(302, { location: "/page" }).end();
		expect(briefOf(await call(createTool(), { url: address() }))).toBe("Too many redirects");
		expect(origin.requests).toHaveLength(limits.redirects + 1);
	});

	it("without a location is an empty page", async () => {
		answer = send("", {}, 302);
		expect((await call(createTool(), { url: address() })).message).toBe("The page is empty.");
	});
});

describe("limits", () => {
	const tooLarge = "Page too large";

	it("apply to a declared length, and to an undeclared one", async () => {
		answer = send("x".repeat(limits.bytes + 1), { "content-length": String(limits.bytes + 1) });
		expect(briefOf(await call(createTool(), { url: address() }))).toBe(tooLarge);
		answer = async (_request, response) => {
			response.writeHead(200, { "content-type": "text/plain" });
			const gone = once(response, "close");
			for (let sent = 0; sent < 64 && !response.destroyed; sent += 1) {
				if (!response.write("x".repeat(limits.bytes / 8))) await Promise.race([once(response, "drain"), gone]);
			}
		};
		expect(briefOf(await call(createTool(), { url: address() }))).toBe(tooLarge);
	});

	it("apply to the decompressed size", async () => {
		const packed = gzipSync(Buffer.alloc(limits.bytes * 20));
		expect(packed.length).toBeLessThan(limits.bytes);
		answer = send(packed, { "content-type": "text/plain", "content-encoding": "gzip" });
		expect(briefOf(await call(createTool(), { url: address() }))).toBe(tooLarge);
	});

	it("apply to the total time, whatever phase it is spent in", async () => {
		const arrived = new Promise<void>((resolve) => {
			answer = (_request, response) => {
				response.writeHead(200, { "content-type": "text/plain" }).write("x");
				resolve();
			};
		});
		const calling = call(createTool(), { url: address() });
		await arrived;
		clock.advance(limits.total);
		const result = await calling;
		expect(briefOf(result)).toBe("Request timed out");
		expect(result.message).toBe("The page did not load within 180 s.");
	});

	it("apply to a silent server", async () => {
		answer = () => {};
		expect(briefOf(await call(createTool(null, { silence: 50 }), { url: address() }))).toBe("Request timed out");
	});
});

describe("a failure", () => {
	it("is reported for a refused connection", async () => {
		const url = address();
		await origin.close();
		const result = await call(createTool(), { url });
		expect([briefOf(result), result.message]).toEqual(["Network error", expect.stringContaining("ECONNREFUSED")]);
		origin = await startOrigin();
	});

	it("is reported for an answer that breaks off", async () => {
		answer = (_request, response) => {
			response.writeHead(200, { "content-type": "text/plain", "content-length": "10" }).write("x");
			setImmediate(() => response.destroy());
		};
		expect(briefOf(await call(createTool(), { url: address() }))).toBe("Network error");
	});

	it("is not reported when the call is cancelled, which closes the connection", async () => {
		const controller = new AbortController();
		let closed: Promise<unknown> = Promise.resolve();
		answer = (_request, response) => {
			closed = once(response, "close");
			response.writeHead(200).write("x");
			controller.abort();
		};
		const { execute } = await prepareCall(createTool(), { url: address() });
		expect(briefOf(await execute(controller.signal))).toBe("Cancelled");
		await closed;
	});
});

describe("the fetch service of the settings", () => {
	const service = (): WebService => ({
		baseUrl: `http://service.test:${origin.port}/fetch`,
		customHeaders: { "X-Team": "blue", Accept: "text/markdown, text/plain" },
		token: async () => "token-1",
	});
	const page = "http://public.example/page";

	it("fetches the page instead of us", async () => {
		let asked: unknown;
		answer = async ({ headers, method, url }, response) => {
			asked = { headers, method, url };
			response.end("# served");
		};
		expect(await call(createTool(service()), { url: page }, "call-7")).toMatchObject({
			is_error: false,
			output: "# served",
			message: "The page was fetched by services.moonshot_fetch.",
		});
		expect(asked).toMatchObject({
			method: "POST",
			url: "/fetch",
			headers: {
				accept: "text/markdown, text/plain",
				authorization: "Bearer token-1",
				"content-type": "application/json",
				"x-msh-tool-call-id": "call-7",
				"x-team": "blue",
			},
		});
		expect(origin.requests).toHaveLength(1);
	});

	it.each([
		["an error", send("no", {}, 500)],
		["a redirect", send("", { location: "http://elsewhere.test/" }, 307)],
		["nothing", send("")],
		["too much text", send("x".repeat(limits.bytes + 1))],
		["a broken connection", (({ socket }) => socket.destroy()) satisfies Answer],
	])("is bypassed when it returns %s", async (_name, served) => {
		answer = (request, response) => (request.method === "POST" ? served(request, response) : response.end("local"));
		const url = address("/page", "public.example");
		expect((await call(createTool(service()), { url })).output).toBe("local");
	});

	it("is bypassed when it exceeds its time", async () => {
		const arrived = new Promise<void>((resolve) => {
			answer = (request, response) => {
				if (request.method === "POST") resolve();
				else response.end("local");
			};
		});
		const calling = call(createTool(service()), { url: address("/page", "public.example") });
		await arrived;
		clock.advance(limits.service);
		expect((await calling).output).toBe("local");
	});

	it.each([
		["there is no key for it", { token: async () => "" }, "public.example"],
		["the key is unavailable", { token: () => Promise.reject(new Error("no")) }, "public.example"],
		["HTTP does not allow its headers", { customHeaders: { "x-a": "a\nb" } }, "public.example"],
		["its address is invalid", { baseUrl: "nowhere" }, "public.example"],
		["the page is on this machine", {}, "127.0.0.1"],
	])("is not used when %s", async (_name, changes, host) => {
		answer = ({ method }, response) => response.end(method);
		const url = address("/page", host);
		expect((await call(createTool({ ...service(), ...changes }), { url })).output).toBe("GET");
	});

	it("is not waited for when the call is cancelled", async () => {
		const controller = new AbortController();
		answer = () => controller.abort();
		const { execute } = await prepareCall(createTool(service()), { url: page });
		expect(briefOf(await execute(controller.signal))).toBe("Cancelled");
	});
});
