// Reads the events of a message stream and passes on those that the package knows, with only the keys it reads. Others
// (new events, blocks, deltas, keys) are ignored, as the API asks of its clients.
import { randomBytes } from "node:crypto";
import { isRecord } from "../../../base/json.ts";
import { type Fields, passed, readJsonEvent, skipped, toText } from "../ai-sdk/event-json.ts";
import type { EventReading } from "../ai-sdk/transport.ts";
import { createErrorReader } from "../http/error-answer.ts";
import type { ServerEvent } from "../http/event-reader.ts";
import { toCount } from "../token-count.ts";

export const errorReader = createErrorReader({
	creditMarks: new Set(["enforced_spend_limit_reached", "contract_spend_limit_reached"]),
	statusOfMark: new Map([
		["invalid_request_error", 400],
		["authentication_error", 401],
		["billing_error", 402],
		["permission_error", 403],
		["not_found_error", 404],
		["request_too_large", 413],
		["rate_limit_error", 429],
		["api_error", 500],
		["timeout_error", 504],
		["overloaded_error", 529],
	]),
});

export interface MessageEvents {
	read(event: ServerEvent): EventReading;
	/** The provider's explanation of a refusal, as far as the stream was read. */
	explanation(): string | null;
}

/** Creates a reader for the stream of one message. */
export function createMessageEvents(): MessageEvents {
	const blocks = new Set<unknown>();
	let explanation: string | null = null;
	let outputTokens = 0;

	const startMessage = (message: Fields): EventReading => {
		const usage = isRecord(message["usage"]) ? message["usage"] : {};
		outputTokens = toCount(usage["output_tokens"]) ?? 0;
		return passed({
			type: "message_start",
			message: {
				id: toText(message["id"]),
				model: toText(message["model"]),
				usage: { input_tokens: 0, ...inputCounts(usage) },
			},
		});
	};

	const startBlock = (index: unknown, block: Fields): EventReading => {
		const start = (content: Fields): Fields => ({ type: "content_block_start", index, content_block: content });
		const delta = (content: Fields): Fields => ({ type: "content_block_delta", index, delta: content });
		blocks.add(index);
		switch (block["type"]) {
			case "text": {
				const text = toText(block["text"]);
				const early = text === null ? [] : [delta({ type: "text_delta", text })];
				return passed(start({ type: "text", text: "" }), ...early);
			}
			case "thinking": {
				const thinking = toText(block["thinking"]);
				const early = thinking === null ? [] : [delta({ type: "thinking_delta", thinking })];
				return passed(start({ type: "thinking", thinking: "" }), ...early);
			}
			case "redacted_thinking":
				return passed(start({ type: "redacted_thinking", data: toText(block["data"]) ?? "" }));
			case "tool_use": {
				const { name, input } = block;
				// The package accepts no call without one, which servers like this API send.
				const id = toText(block["id"]) ?? `toolu_${randomBytes(12).toString("hex")}`;
				return passed(start({ type: "tool_use", id, name, input: isRecord(input) ? input : {} }));
			}
			default:
				blocks.delete(index);
				return skipped;
		}
	};

	const readDelta = (index: unknown, delta: Fields): EventReading => {
		if (!blocks.has(index)) return skipped;
		const { type } = delta;
		const known = knownDeltas.find((name) => name.type === type);
		if (known === undefined) return skipped;
		const text = toText(delta[known.field]);
		return text === null
			? skipped
			: passed({ type: "content_block_delta", index, delta: { type, [known.field]: text } });
	};

	const changeMessage = (delta: Fields, usage: Fields): EventReading => {
		outputTokens = toCount(usage["output_tokens"]) ?? outputTokens;
		const details = isRecord(delta["stop_details"]) ? delta["stop_details"] : {};
		explanation = toText(details["explanation"]) ?? explanation;
		return passed({
			type: "message_delta",
			delta: { stop_reason: toText(delta["stop_reason"]) },
			usage: { output_tokens: outputTokens, ...inputCounts(usage) },
		});
	};

	const readFields = (fields: Fields, isError: boolean): EventReading => {
		const field = (name: string): Fields => (isRecord(fields[name]) ? fields[name] : {});
		if (isError || fields["type"] === "error") {
			return { kind: "failed", failure: errorReader.event(fields["error"] ?? fields) };
		}
		const { index } = fields;
		switch (fields["type"]) {
			case "message_start":
				return startMessage(field("message"));
			case "content_block_start":
				return startBlock(index, field("content_block"));
			case "content_block_delta":
				return readDelta(index, field("delta"));
			case "content_block_stop":
				return blocks.delete(index) ? passed({ type: "content_block_stop", index }) : skipped;
			case "message_delta":
				return changeMessage(field("delta"), field("usage"));
			case "message_stop":
				return { kind: "last", data: ['{"type":"message_stop"}'] };
			default:
				return skipped;
		}
	};

	return {
		explanation: () => explanation,
		read: (event) =>
			readJsonEvent(event, errorReader.event, (value) =>
				isRecord(value) ? readFields(value, event.event === "error") : skipped,
			),
	};
}

const knownDeltas = [
	{ type: "text_delta", field: "text" },
	{ type: "thinking_delta", field: "thinking" },
	{ type: "signature_delta", field: "signature" },
	{ type: "input_json_delta", field: "partial_json" },
] as const;

/** The prompt's counts that are present; the others are unchanged. */
function inputCounts(usage: Fields): Record<string, number> {
	const names = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
	const counts = names.flatMap((name) => {
		const count = toCount(usage[name]);
		return count === null ? [] : [[name, count] as const];
	});
	return Object.fromEntries(counts);
}
