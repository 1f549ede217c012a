// Members that a server wants back: as they stream, as the context stores them, and in the next request.
import { describe, expect, it } from "vitest";
import {
	continued,
	partsOf,
	plainRequest,
	seal,
	text,
	think,
	toolCall,
} from "../../../../test/support/models/model-conversation.ts";
import { createModelSubject } from "../../../../test/support/models/model-subject.ts";
import { sendEvents } from "../../../../test/support/models/provider-server.ts";
import type { HistoryEntry } from "../../../api/values/conversation.ts";
import { isRecord } from "../../../base/json.ts";
import { fromLine, toLine } from "../../../ports/store/context-row.ts";
import type { ModelRequest } from "../model.ts";

const tested = createModelSubject({ providerType: "openai_legacy", model: "gemini-3-pro" }, "/v1");

const event = (delta: unknown, others: object = {}) =>
	`data: ${JSON.stringify({ id: "m1", choices: [{ index: 0, delta, ...others }] })}\n\n`;
const finish = event({}, { finish_reason: "tool_calls" });
const call = (index: number, id: string, others: object = {}) => ({
	...{ index, id, type: "function", function: { name: "f", arguments: '{"a":1}' } },
	...others,
});
const signed = { extra_content: { google: { thought_signature: "SIGNED" } } };

/** The message as a later process reads it from the context. */
function restored(message: HistoryEntry): HistoryEntry {
	const row = fromLine(JSON.parse(String(toLine({ type: "message", message }))));
	if (row?.type !== "message") throw new Error("no message");
	return row.message;
}

/** The answer of the model in the request after these deltas. */
async function sentBack(deltas: readonly string[], model = "gemini-3-pro"): Promise<Record<string, unknown>> {
	const chunks = await tested.ask(sendEvents(deltas.join("") + finish));
	const results = partsOf(chunks).flatMap((part) => (part.type === "function" ? [[text("r")]] : []));
	const second = continued(plainRequest, chunks, results);
	const request: ModelRequest = { ...second, messages: second.messages.map(restored) };
	await tested.ask(sendEvents(finish), { model }, request);
	const messages = tested.sent("messages");
	const answer: unknown = Array.isArray(messages) ? messages.find(({ role }) => role === "assistant") : null;
	return isRecord(answer) ? answer : {};
}

const idOf = (value: unknown) => (Array.isArray(value) ? value : []);

describe("members of a call", () => {
	it("go back on their call, and on no other", async () => {
		const deltas = [event({ tool_calls: [call(0, "c1", signed)] }), event({ tool_calls: [call(1, "c2")] })];
		const { tool_calls: calls } = await sentBack(deltas);
		expect(idOf(calls)).toMatchObject([{ id: "c1", ...signed }, { id: "c2" }]);
		expect(idOf(calls)[1]).not.toHaveProperty("extra_content");
	});

	it("go back on their call when they come after it", async () => {
		const late = event({ tool_calls: [{ index: 0, ...signed }] });
		const { tool_calls: calls } = await sentBack([event({ tool_calls: [call(0, "c1")] }), late]);
		expect(idOf(calls)).toMatchObject([{ id: "c1", ...signed }]);
	});

	it("do not go to another model", async () => {
		const answer = await sentBack([event({ tool_calls: [call(0, "c1", signed)] })], "gpt-5.2");
		expect(JSON.stringify(answer)).not.toContain("SIGNED");
	});
});

describe("members of a message", () => {
	const details = (...reasoning_details: object[]) => event({ reasoning_details });
	const piece = (value: string, others: object = {}) => ({
		...{ type: "reasoning.text", index: 0, format: "x-v1", text: value, signature: null },
		...others,
	});

	it("are joined by their index", async () => {
		const deltas = [
			details(piece("Two ")),
			details(piece("facts.", { signature: "SIGNED" }), { type: "reasoning.encrypted", index: 1, data: "abc" }),
			event({ content: "Checking." }),
			details({ type: "reasoning.encrypted", index: 1, data: "def" }),
		];
		expect((await sentBack(deltas))["reasoning_details"]).toEqual([
			{ type: "reasoning.text", index: 0, format: "x-v1", text: "Two facts.", signature: "SIGNED" },
			{ type: "reasoning.encrypted", index: 1, data: "abcdef" },
		]);
	});

	it("are kept where their kind or call differs, and where they have no index", async () => {
		const given = [
			piece("a"),
			{ type: "reasoning.encrypted", index: 0, id: "c1", data: "x" },
			{ type: "reasoning.encrypted", index: 0, id: "c2", data: "y" },
			{ type: "reasoning.summary", summary: "s" },
			{ type: "reasoning.summary", summary: "t" },
		];
		const deltas = [...given.map((detail) => details(detail)), event({ content: "b" })];
		expect((await sentBack(deltas))["reasoning_details"]).toEqual(given);
	});

	it("that come with or after calls are joined with the earlier ones", async () => {
		const deltas = [
			details(piece("a")),
			event({ tool_calls: [call(0, "c1")], reasoning_details: [piece("b")] }),
			details(piece("c")),
		];
		const answer = await sentBack(deltas);
		expect(answer["reasoning_details"]).toMatchObject([{ text: "abc" }]);
		expect(idOf(answer["tool_calls"])).toHaveLength(1);
	});

	it("are read as reasoning where there is no other, and stored before the calls", async () => {
		const deltas = details(piece("a")) + event({ tool_calls: [call(0, "c1")] });
		const parts = partsOf(await tested.ask(sendEvents(deltas + finish)));
		expect(parts).toEqual([
			think("a"),
			seal("chat:gemini-3-pro", "message", { reasoning_details: [piece("a")] }),
			toolCall("c1", "f", '{"a":1}'),
		]);
	});

	it("may be texts and objects", async () => {
		const deltas = [event({ content: "a", reasoning_opaque: "x", ...signed }), event({ reasoning_opaque: "y" })];
		expect(await sentBack(deltas)).toMatchObject({ content: "a", reasoning_opaque: "xy", ...signed });
	});
});
