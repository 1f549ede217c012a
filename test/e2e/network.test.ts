// The network of the built executable: when it first opens a connection, and how it gets through proxies and to pages.
import { expect, it, onTestFinished } from "vitest";
import { createStage, toolCall } from "../support/executable/executable.ts";
import { outline, type Server } from "../support/executable/running-server.ts";
import {
	type Answer,
	authorityFile,
	startHttpProxy,
	startOrigin,
	startSocksProxy,
	type WebServer,
} from "../support/host/web-servers.ts";
import { sendJson } from "../support/models/provider-server.ts";
import { configFor, createProviderStage, type ProvidedModel } from "../support/models/provider-stage.ts";

async function started<Kind extends WebServer>(starting: Promise<Kind>): Promise<Kind> {
	const server = await starting;
	onTestFinished(() => server.close());
	return server;
}

const sentence = `data: ${JSON.stringify({ id: "m", choices: [{ index: 0, delta: { content: "Hello." } }] })}\n\ndata: [DONE]\n\n`;

/** A provider that says one sentence, whatever it is asked. */
const says: Answer = (request, response) => {
	request.on("end", () => response.writeHead(200, { "content-type": "text/event-stream" }).end(sentence));
};

const compatible: ProvidedModel = { type: "openai_legacy", model: "some-model" };

async function ask(server: Server): Promise<readonly string[]> {
	server.prompt("hello");
	const lines = await server.readUntil((line) => line.id === "prompt");
	server.endInput();
	expect(await server.exited).toBe(0);
	return outline(lines);
}

const answered = ["TurnBegin", "StepBegin", "ContentPart", "StatusUpdate", "TurnEnd", "finished"];

it("opens a connection once `initialize` is answered, never before, and uses it for the first request", async () => {
	const origin = await started(startOrigin(says));
	const stage = createStage();
	const server = stage.serve("--config", configFor(`http://127.0.0.1:${origin.port}/v1`, compatible), "--wire");
	// An answered request shows that the start is over.
	server.request("cancel", "cancel");
	await server.response("cancel");
	expect(origin.connections()).toBe(0);
	server.initialize();
	await server.response("initialize");
	await origin.connected(1);
	expect(origin.requests).toEqual([]);
	expect(await ask(server)).toEqual(answered);
	expect([origin.connections(), origin.requests.length]).toEqual([1, 1]);
});

it.each([
	["HTTPS_PROXY", "http", startHttpProxy],
	["ALL_PROXY", "socks", startSocksProxy],
])("reaches a provider with a certificate of one's own through %s", async (variable, scheme, start) => {
	const origin = await started(startOrigin(says, true));
	const proxy = await started(start());
	const config = configFor(`https://model.test:${origin.port}/v1`, {
		...compatible,
		settings: { agentwire: { ca_file: authorityFile } },
	});
	const variables = { [variable]: `${scheme}://127.0.0.1:${proxy.port}` };
	const server = createStage().serveWith(variables, "--config", config, "--wire");
	expect(await ask(server)).toEqual(answered);
	expect(proxy.requests).toMatchObject([{ method: "CONNECT", target: `model.test:${origin.port}` }]);
});

it("waits as long as the provider asks, but no longer than a minute", async () => {
	const { provider, serve } = await createProviderStage(compatible);
	const busy = { error: { message: "Too busy" } };
	provider.answerNext(sendJson(429, { "retry-after-ms": "30" }, busy));
	provider.answerNext(sendJson(529, { "retry-after": "90" }, busy));
	const server = serve();
	server.prompt("hello");
	const retry = await server.message("StepRetry");
	expect(retry.params?.payload).toMatchObject({ wait_s: 0.03, error_type: "APIStatusError", status_code: 429 });
	const { error } = await server.response("prompt");
	expect(error).toMatchObject({
		code: -32003,
		message: expect.stringMatching(/^Too busy\. The provider asks to wait 90 s: try again after \d{4}-.*Z\.$/),
	});
});

it("says which provider refused which key", async () => {
	const { provider, serve } = await createProviderStage(compatible);
	provider.answerNext(
		sendJson(401, {}, { error: { message: "Incorrect API key provided: sk-test-0123456789abcdef" } }),
	);
	const server = serve();
	server.prompt("hello");
	expect((await server.response("prompt")).error?.message).toBe(
		'Incorrect API key provided: [redacted]. The key for the provider "p" comes from providers.p.api_key.',
	);
});

/** A server whose model fetches a page first of all. */
function fetching(url: string, agentwire: Readonly<Record<string, unknown>>): Server {
	const stage = createStage({ scripts: [toolCall("c1", "FetchURL", { url }), "text: done"] });
	return stage.serve("--config", JSON.stringify({ ...JSON.parse(stage.configText), agentwire }), "--wire");
}

it("fetches a page that is allowed, and none that is not", async () => {
	const page = await started(
		startOrigin((_request, response) => response.writeHead(200, { "content-type": "text/plain" }).end("a page")),
	);
	const url = `http://127.0.0.1:${page.port}/`;
	for (const [agentwire, expected] of [
		[{}, { is_error: true, message: expect.stringContaining("127.0.0.1 is a loopback address") }],
		[{ fetch_allow: ["127.0.0.1"] }, { is_error: false, output: "a page" }],
	] as const) {
		const server = fetching(url, agentwire);
		server.prompt("hello");
		const result = await server.message("ToolResult");
		expect(result.params?.payload["return_value"]).toMatchObject(expected);
	}
	expect(page.connections()).toBe(1);
});
