import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
	briefOf,
	call,
	createToolPlace,
	issueOf,
	prepareCall,
	type ToolPlace,
} from "../../../../test/support/host/tool-environment.ts";
import { createManualClock } from "../../../../test/support/models/model-settings.ts";
import {
	type AnswerRequest,
	type ProviderServer,
	sendJson,
	sendText,
	startProviderServer,
} from "../../../../test/support/models/provider-server.ts";
import { noWeb } from "../../../../test/support/sessions/session-doubles.ts";
import type { Tool, ToolEnvironment, WebService } from "../tool.ts";
import { createSearchWeb } from "./search-web.ts";

let place: ToolPlace;
let server: ProviderServer;
beforeEach(async () => {
	place = await createToolPlace();
	server = await startProviderServer();
});
afterEach(async () => {
	await server.close();
	await place.remove();
});

function create(service: Partial<WebService> = {}, changes: Partial<ToolEnvironment> = {}): Tool {
	const searchService: WebService = {
		baseUrl: `${server.url}/v1/search`,
		customHeaders: {},
		token: async () => "secret-token",
		...service,
	};
	const web = { ...noWeb, searchService };
	const tool = createSearchWeb({ ...place.environment, web, ...changes });
	if (tool === null) throw new Error("it is not offered");
	return tool;
}

const found = {
	site_name: "Example",
	title: "A page",
	url: "https://example.org/a",
	snippet: "What it says.",
	content: "All of it.\n\nReally.",
	date: "2026-11-20",
	icon: "https://example.org/i.png",
	mime: "text/html",
};

async function search(answer: AnswerRequest, tool = create(), input: object = { query: "news" }) {
	server.answerNext(answer);
	return await call(tool, input);
}

describe("SearchWeb", () => {
	it("is offered when a search service is configured", () => {
		expect(createSearchWeb(place.environment)).toBeNull();
		expect(create().name).toBe("SearchWeb");
	});

	it("sends its token and headers to the service", async () => {
		server.answerNext(sendJson(200, {}, { search_results: [] }));
		const tool = create({ customHeaders: { "x-team": "blue", "User-Agent": "mine/1" } });
		const prepared = await prepareCall(tool, { query: "news" });
		expect(prepared).toMatchObject({ approval: { byDefault: "allow" }, hasEffect: false });
		await prepared.execute();
		await search(sendJson(200, {}, { search_results: [] }), create(), {
			query: "more",
			limit: "20",
			include_content: true,
		});
		expect(server.requests).toMatchObject([
			{
				path: "/v1/search",
				headers: {
					authorization: "Bearer secret-token",
					"content-type": "application/json",
					"x-team": "blue",
					"user-agent": "mine/1",
				},
			},
			{},
		]);
		expect(server.requests.map(({ body }) => body)).toEqual([
			{ text_query: "news", limit: 5, enable_page_crawling: false, timeout_seconds: 30 },
			{ text_query: "more", limit: 20, enable_page_crawling: true, timeout_seconds: 30 },
		]);
	});

	it("returns the results, block by block", async () => {
		const bare = { ...found, title: "Another", content: "", date: "" };
		expect(await search(sendJson(200, {}, { search_results: [found, bare] }))).toEqual({
			is_error: false,
			output: [
				"Title: A page",
				"Date: 2026-11-20",
				"URL: https://example.org/a",
				"Summary: What it says.",
				"",
				"All of it.",
				"",
				"Really.",
				"",
				"---",
				"",
				"Title: Another",
				"Date: ",
				"URL: https://example.org/a",
				"Summary: What it says.",
				"",
			].join("\n"),
			message: "Found 2 results.",
			display: [],
			extras: null,
		});
	});

	it.each([
		[{ search_results: [{ title: "T" }, { url: null, extra: 1 }], more: true }, "Found 2 results."],
		[{ search_results: [found] }, "Found 1 result."],
		[{ search_results: [] }, "Nothing was found for `news`."],
	])("treats absent fields as empty: %j", async (answer, message) => {
		expect(await search(sendJson(200, {}, answer))).toMatchObject({ is_error: false, message });
	});

	it("truncates the result, but no line", async () => {
		const results = [
			{ ...found, content: "x".repeat(10_000) },
			{ ...found, content: "y".repeat(60_000) },
		];
		const { output, message } = await search(sendJson(200, {}, { search_results: results }));
		expect(output).toHaveLength(50_000);
		expect(output).toContain("x".repeat(10_000));
		expect(message).toBe("Found 2 results. The output was shortened to fit.");
	});

	it.each([
		[sendJson(500, {}, { error: "broken" }), "Failed to search", "HTTP 500"],
		[sendJson(429, {}, {}), "Failed to search", "HTTP 429"],
		[sendText(302, { location: "http://127.0.0.1:2/" }, ""), "Failed to search", "HTTP 302"],
		[sendJson(401, {}, {}), "Failed to search", "key of services.moonshot_search"],
		[sendText(200, {}, "<html>"), "Failed to parse search results", "something other than"],
		[sendJson(200, {}, { results: [] }), "Failed to parse search results", "something other than"],
		[sendJson(200, {}, { search_results: [{ title: 1 }] }), "Failed to parse search results", "something other than"],
		[sendText(200, {}, " ".repeat(33 * 1024 * 1024)), "Failed to parse search results", "something other than"],
	])("reports an invalid answer: %#", async (answer, brief, words) => {
		const result = await search(answer);
		expect(briefOf(result)).toBe(brief);
		expect(result.message).toContain(words);
		expect(JSON.stringify(result)).not.toContain("secret-token");
	});

	it.each([
		[{ baseUrl: "" }, "base_url"],
		[{ baseUrl: "ftp://example.org" }, "base_url"],
		[{ token: async () => "" }, "no key"],
		[{ token: async () => "secret\ntoken" }, "what HTTP does not allow"],
		[{ customHeaders: { "a b": "secret" } }, "what HTTP does not allow"],
	])("reports a missing setting: %j", async (service, words) => {
		const result = await call(create(service), { query: "news" });
		expect(briefOf(result)).toBe("Search service not configured");
		expect(result.message).toContain(words);
		expect(result.message).not.toContain("secret");
		expect(server.requests).toEqual([]);
	});

	it.each([
		[{ baseUrl: "http://127.0.0.1:2/" }, "ECONNREFUSED"],
		[{ token: async () => Promise.reject(new Error("The sign-in is over.")) }, ": The sign-in is over."],
	])("reports why the service cannot be reached: %#", async (service, words) => {
		const result = await call(create(service), { query: "news" });
		expect(briefOf(result)).toBe("Search request failed");
		expect(result.message).toContain(words);
	});

	it("reports an answer that breaks off", async () => {
		const result = await search(async (response) => {
			response.writeHead(200, { "content-length": "100" });
			response.write("{");
			response.socket?.destroySoon();
		});
		expect(briefOf(result)).toBe("Search request failed");
	});

	it("waits 30 s, for the head of the answer and for the rest", async () => {
		for (const begin of [async () => {}, sendHead]) {
			const clock = createManualClock();
			server.answerNext(begin);
			const searching = call(create({}, { clock }), { query: "news" });
			await clock.expireNext(30_000);
			expect(briefOf(await searching)).toBe("Search request timed out");
		}
	});

	it("closes the connection when it is cancelled", async () => {
		const controller = new AbortController();
		server.answerNext(async () => controller.abort());
		const result = await (await prepareCall(create(), { query: "news" })).execute(controller.signal);
		expect(briefOf(result)).toBe("Cancelled");
		await server.requests[0]?.closed;
	});

	it.each([
		[{}, "Argument `query` is required."],
		[{ query: "x", limit: 0 }, "Argument `limit` is invalid: expected >=1 but received 0."],
		[{ query: "x", limit: 21 }, "Argument `limit` is invalid: expected <=20 but received 21."],
	])("refuses %j", async (input, issue) => {
		expect(await issueOf(create(), input)).toBe(issue);
	});
});

/** The head of an answer of which nothing more comes. */
const sendHead: AnswerRequest = async (response) => {
	response.writeHead(200, { "content-type": "application/json" });
	response.flushHeaders();
};
