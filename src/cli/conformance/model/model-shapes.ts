import type { EchoScript } from "../../../core/models/scripted/echo-language.ts";

export interface Call {
	readonly id: string;
	readonly name: string;
	/** As the model wrote them: JSON, unless the scenario is about faulty calls. */
	readonly arguments: string;
}

export interface Answer {
	readonly thinking: string;
	readonly text: string;
	readonly calls: readonly Call[];
	readonly isTruncated: boolean;
}

export interface ModelShape {
	readonly path: string;
	toEvents(answer: Answer): string;
}

export function toAnswer({ parts, end }: EchoScript): Answer {
	let [thinking, text] = ["", ""];
	const calls: { id: string; name: string; arguments: string }[] = [];
	for (const part of parts) {
		const last = calls.at(-1);
		if (part.type === "text") text += part.text;
		else if (part.type === "think") thinking += part.think;
		else if (part.type === "function")
			calls.push({ id: part.id, name: part.function.name, arguments: part.function.arguments ?? "" });
		else if (part.type === "tool_call_part" && last !== undefined) last.arguments += part.arguments_part ?? "";
		else throw new Error(`A scenario's model cannot answer with ${part.type}.`);
	}
	return { thinking, text, calls, isTruncated: end?.kind === "truncated" };
}

const sse = (events: readonly object[]): string =>
	events
		.map((event) => {
			const name = "type" in event ? `event: ${String(event.type)}\n` : "";
			return `${name}data: ${JSON.stringify(event)}\n\n`;
		})
		.join("");

function toChatEvents({ thinking, text, calls, isTruncated }: Answer): string {
	const chunk = (delta: object, finish: string | null = null) => ({
		...{ id: "chatcmpl-scenario", object: "chat.completion.chunk", created: 0, model: "scenario" },
		choices: [{ index: 0, delta, finish_reason: finish }],
	});
	const deltas = [
		...(thinking === "" ? [] : [{ reasoning_content: thinking }]),
		...(text === "" ? [] : [{ content: text }]),
		...calls.map(({ id, name, arguments: text }, index) => ({
			tool_calls: [{ index, id, type: "function", function: { name, arguments: text } }],
		})),
	];
	const finish = isTruncated ? "length" : calls.length > 0 ? "tool_calls" : "stop";
	return `${sse([...deltas.map((delta) => chunk(delta)), chunk({}, finish)])}data: [DONE]\n\n`;
}

function toResponsesEvents({ thinking, text, calls, isTruncated }: Answer): string {
	const message = (content: readonly object[], status: string) => ({
		...{ type: "message", id: "msg_1", role: "assistant", status },
		content,
	});
	const done = (item: object) => ({ type: "response.output_item.done", output_index: 0, item });
	const place = { item_id: "msg_1", output_index: 0, content_index: 0 };
	const events = [
		{ type: "response.created", response: { id: "resp_1", status: "in_progress" } },
		...(thinking === ""
			? []
			: [done({ type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: thinking }] })]),
		...(text === ""
			? []
			: [
					{ type: "response.output_item.added", output_index: 0, item: message([], "in_progress") },
					{ type: "response.output_text.delta", ...place, delta: text },
					done(message([{ type: "output_text", text, annotations: [] }], "completed")),
				]),
		...calls.map(({ id, name, arguments: text }) =>
			done({ type: "function_call", id: `fc_${id}`, call_id: id, name, arguments: text, status: "completed" }),
		),
	];
	const usage = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };
	const end = isTruncated
		? { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }
		: { status: "completed" };
	return sse([...events, { type: `response.${end.status}`, response: { id: "resp_1", ...end, usage } }]);
}

function toMessagesEvents({ thinking, text, calls, isTruncated }: Answer): string {
	const usage = { input_tokens: 0, output_tokens: 0 };
	const blocks = [
		...(thinking === ""
			? []
			: [{ start: { type: "thinking", thinking: "" }, delta: { type: "thinking_delta", thinking } }]),
		...(text === "" ? [] : [{ start: { type: "text", text: "" }, delta: { type: "text_delta", text } }]),
		...calls.map(({ id, name, arguments: text }) => ({
			start: { type: "tool_use", id, name, input: {} },
			delta: { type: "input_json_delta", partial_json: text },
		})),
	];
	const reason = isTruncated ? "max_tokens" : calls.length > 0 ? "tool_use" : "end_turn";
	const message = { id: "msg_1", type: "message", role: "assistant", model: "scenario", content: [], usage };
	return sse([
		{ type: "message_start", message },
		...blocks.flatMap(({ start, delta }, index) => [
			{ type: "content_block_start", index, content_block: start },
			{ type: "content_block_delta", index, delta },
			{ type: "content_block_stop", index },
		]),
		{ type: "message_delta", delta: { stop_reason: reason, stop_sequence: null }, usage },
		{ type: "message_stop" },
	]);
}

export const shapes: readonly ModelShape[] = [
	{ path: "/chat/completions", toEvents: toChatEvents },
	{ path: "/responses", toEvents: toResponsesEvents },
	{ path: "/messages", toEvents: toMessagesEvents },
];
