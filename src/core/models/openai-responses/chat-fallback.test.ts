import { describe, expect, it } from "vitest";
import { collectChunks, partsOf, plainRequest, text } from "../../../../test/support/models/model-conversation.ts";
import { createModelSubject } from "../../../../test/support/models/model-subject.ts";
import { type AnswerRequest, sendEvents, sendJson, sendText } from "../../../../test/support/models/provider-server.ts";
import { silentLog } from "../../../base/log.ts";

const tested = createModelSubject({ providerType: "openai_responses", model: "qwen3" }, "/v1");

const chat = sendEvents(
	'data: {"id":"m1","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
);

async function ask(...answers: readonly AnswerRequest[]) {
	const lines: string[] = [];
	for (const answer of answers) tested.server.answerNext(answer);
	const model = await tested.create({ log: { ...silentLog, warn: (line) => void lines.push(line) } });
	const stream = () => collectChunks(model.stream(plainRequest, new AbortController().signal));
	return { stream, lines, paths: () => tested.server.requests.map(({ path }) => path) };
}

describe("a server without the Responses API", () => {
	it.each([
		["a page", sendText(404, { "content-type": "text/plain" }, "404 page not found")],
		["details", sendJson(404, {}, { detail: "Not Found" })],
		["an error", sendJson(404, {}, { error: { message: "Unknown request URL: POST /v1/responses", type: "x" } })],
		["another method", sendText(405, {}, "")],
		["an error with status 200", sendJson(200, {}, { error: "Unexpected endpoint or method. (POST /v1/responses)" })],
	])("is asked over chat completions, which is logged once and remembered: %s", async (_name, missing) => {
		const { stream, lines, paths } = await ask(missing, chat, chat);
		const first = await stream();
		expect(partsOf(first)).toEqual([text("a")]);
		expect(first.at(-1)).toMatchObject({ type: "done", notice: lines[0] });
		const second = await stream();
		expect(partsOf(second)).toEqual([text("a")]);
		expect(second.at(-1)).not.toHaveProperty("notice");
		expect(paths()).toEqual(["/v1/responses", "/v1/chat/completions", "/v1/chat/completions"]);
		expect(lines).toEqual(["The server has no Responses API (/responses): falling back to chat completions."]);
	});

	it.each([
		["a missing model", sendJson(404, {}, { error: { message: "The model `qwen3` does not exist." } })],
		["a missing item", sendJson(404, {}, { error: { message: "Item with id 'rs_1' not found." } })],
		["a wrong key", sendJson(401, {}, { error: { message: "no" } })],
	])("is not one that reports %s", async (_name, answer) => {
		const { stream, paths } = await ask(answer);
		expect(await stream()).toMatchObject([{ type: "failed" }]);
		expect(paths()).toEqual(["/v1/responses"]);
	});

	it("is not remembered when chat completions fail, too", async () => {
		const missing = sendJson(404, {}, { detail: "Not Found" });
		const { stream, lines, paths } = await ask(missing, missing, missing, sendJson(503, {}, { error: "busy" }));
		expect(await stream()).toMatchObject([{ failure: { message: expect.stringContaining("/v1/responses") } }]);
		expect(await stream()).toMatchObject([{ failure: { statusCode: 503 } }]);
		expect(paths()).toEqual(["/v1/responses", "/v1/chat/completions", "/v1/responses", "/v1/chat/completions"]);
		expect(lines).toEqual([]);
	});
});
