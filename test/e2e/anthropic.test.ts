// A whole turn of the built executable against the Messages API on loopback.
import { expect, it } from "vitest";
import { outline } from "../support/executable/running-server.ts";
import {
	answeredAboutFile,
	askAboutFile,
	askUnsuccessfully,
	createProviderStage,
	firstStatus,
	type ProvidedModel,
} from "../support/models/provider-stage.ts";

const claude: ProvidedModel = {
	type: "anthropic",
	model: "claude-sonnet-5",
	modelSettings: { max_context_size: 200_000, capabilities: ["thinking"] },
	settings: { default_thinking: true },
};

function messageEvents(
	stopReason: string,
	...blocks: readonly (readonly [start: object, ...deltas: object[]])[]
): string {
	const usage = { input_tokens: 20, cache_read_input_tokens: 10, output_tokens: 1 };
	return [
		{ type: "message_start", message: { id: "msg_1", usage } },
		...blocks.flatMap(([start, ...deltas], index) => [
			{ type: "content_block_start", index, content_block: start },
			...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
			{ type: "content_block_stop", index },
		]),
		{ type: "message_delta", delta: { stop_reason: stopReason }, usage: { output_tokens: 7 } },
		{ type: "message_stop" },
	]
		.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
		.join("");
}

it("an Anthropic model streams an answer with a thought, and gets both the thought and the result of its tool back", async () => {
	const staged = await createProviderStage(claude);
	const { lines, code } = await askAboutFile(
		staged,
		messageEvents(
			"tool_use",
			[
				{ type: "thinking", thinking: "", signature: "" },
				{ type: "thinking_delta", thinking: "Look first." },
				{ type: "signature_delta", signature: "c2ln" },
			],
			[
				{ type: "tool_use", id: "toolu_1", name: "ReadFile", input: {} },
				{ type: "input_json_delta", partial_json: '{"path":' },
				{ type: "input_json_delta", partial_json: '"a.txt"}' },
			],
		),
		messageEvents("end_turn", [
			{ type: "text", text: "" },
			{ type: "text_delta", text: "It says hello." },
		]),
	);
	expect([outline(lines), code]).toEqual([answeredAboutFile, 0]);
	expect(firstStatus(lines)).toMatchObject({
		context_tokens: 30,
		token_usage: { input_other: 20, output: 7, input_cache_read: 10, input_cache_creation: 0 },
		message_id: "msg_1",
	});
	const { requests } = staged.provider;
	expect(requests[1]?.headers["x-api-key"]).toBe("sk-test-0123456789abcdef");
	expect(requests[1]?.body).toMatchObject({
		thinking: { type: "adaptive" },
		messages: [
			{ role: "user", content: [{ text: "What is in a.txt?" }] },
			{
				role: "assistant",
				content: [
					{ type: "thinking", thinking: "Look first.", signature: "c2ln" },
					{ type: "tool_use", id: "toolu_1", name: "ReadFile", input: { path: "a.txt" } },
				],
			},
			{
				role: "user",
				content: [{ type: "tool_result", tool_use_id: "toolu_1", content: expect.stringContaining("hello") }],
			},
		],
	});
});

it("reports the provider's own words and no key when it refuses", async () => {
	const message = "invalid x-api-key sk-test-0123456789abcdef";
	const { error, code } = await askUnsuccessfully(await createProviderStage(claude), {
		type: "error",
		error: { type: "authentication_error", message },
	});
	expect([error?.code, code]).toEqual([-32003, 0]);
	expect(error?.message).toContain("invalid x-api-key");
	expect(error?.message).not.toContain("0123456789abcdef");
});
