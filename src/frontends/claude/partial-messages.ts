// Streams an answer as events of the Messages API.
import type { EventBody } from "../../api/values/event.ts";
import { noUsage, toClientUsage } from "./results.ts";
import { readClientCall } from "./tool-names.ts";

interface MessagePlace {
	readonly id: string;
	readonly model: string;
}

type BlockKind = "text" | "thinking" | "tool_use";

/** One message per step. Call input comes as one delta when complete, because its members are renamed. */
export class PartialMessages {
	#isOpen = false;
	#block: BlockKind | null = null;
	#index = 0;
	#hasCalls = false;

	take(body: EventBody, place: MessagePlace): readonly object[] {
		switch (body.type) {
			case "step.started":
				return this.#end();
			case "content.delta":
				return this.#content(body.part, place);
			case "tool.requested": {
				const { id, function: called } = body.call;
				const { name, input } = readClientCall(called.name, called.arguments);
				this.#hasCalls = true;
				const begin = this.#begin("tool_use", { type: "tool_use", id, name, input: {} }, place, true);
				const delta = { type: "input_json_delta", partial_json: JSON.stringify(input) };
				return [...begin, this.#delta(delta), ...this.#endBlock()];
			}
			case "tool.result":
			case "status.changed":
			case "step.interrupted":
			case "turn.ended":
				return body.type === "status.changed" && body.token_usage === null ? [] : this.#end();
			default:
				return [];
		}
	}

	#content(part: Extract<EventBody, { type: "content.delta" }>["part"], place: MessagePlace): readonly object[] {
		if (part.type === "text") {
			const begin = this.#begin("text", { type: "text", text: "" }, place);
			return [...begin, this.#delta({ type: "text_delta", text: part.text })];
		}
		if (part.type !== "think") return [];
		const begin = this.#begin("thinking", { type: "thinking", thinking: "", signature: "" }, place);
		return [...begin, this.#delta({ type: "thinking_delta", thinking: part.think })];
	}

	#begin(kind: BlockKind, block: object, { id, model }: MessagePlace, isNew = false): readonly object[] {
		if (this.#block === kind && !isNew) return [];
		const ended = this.#endBlock();
		const start = this.#isOpen
			? []
			: [
					{
						type: "message_start",
						message: {
							id,
							type: "message",
							role: "assistant",
							model,
							content: [],
							stop_reason: null,
							stop_sequence: null,
							usage: toClientUsage(noUsage),
						},
					},
				];
		this.#isOpen = true;
		this.#block = kind;
		return [...ended, ...start, { type: "content_block_start", index: this.#index, content_block: block }];
	}

	#delta(delta: object): object {
		return { type: "content_block_delta", index: this.#index, delta };
	}

	#endBlock(): readonly object[] {
		if (this.#block === null) return [];
		const stop = { type: "content_block_stop", index: this.#index };
		this.#block = null;
		this.#index += 1;
		return [stop];
	}

	#end(): readonly object[] {
		if (!this.#isOpen) return [];
		const ended = this.#endBlock();
		const delta = { stop_reason: this.#hasCalls ? "tool_use" : "end_turn", stop_sequence: null };
		this.#isOpen = false;
		this.#index = 0;
		this.#hasCalls = false;
		return [...ended, { type: "message_delta", delta, usage: { output_tokens: 0 } }, { type: "message_stop" }];
	}
}
