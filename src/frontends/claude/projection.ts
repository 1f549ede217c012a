import type { ContentPart, ToolReturn } from "../../api/values/content.ts";
import type { AgentEvent } from "../../api/values/event.ts";
import { PartialMessages } from "./partial-messages.ts";
import { noUsage, toClientUsage } from "./results.ts";
import { readClientCall } from "./tool-names.ts";

export interface ProjectionSettings {
	readonly sessionId: string;
	readonly uuid: () => string;
	readonly model: () => string;
	readonly wantsPartial: boolean;
}

export class Projection {
	readonly #settings: ProjectionSettings;
	readonly #partial: PartialMessages | null;
	/** By the call that started an agent: the id of its step's message. */
	readonly #messages = new Map<string | null, string>();
	/** Calls without a result, each with the call that started its agent. */
	readonly #open = new Map<string, string | null>();

	constructor(settings: ProjectionSettings) {
		this.#settings = settings;
		this.#partial = settings.wantsPartial ? new PartialMessages() : null;
	}

	take(event: AgentEvent): readonly object[] {
		const parent = event.agentPath.at(-1)?.parentToolCallId ?? null;
		return [...this.#streamed(event, parent), ...this.#complete(event, parent)];
	}

	#streamed(event: AgentEvent, parent: string | null): readonly object[] {
		if (this.#partial === null || event.agentPath.length > 0) return [];
		const place = {
			id: this.#messageOf(event.body.type === "step.started" ? null : parent),
			model: this.#settings.model(),
		};
		return this.#partial.take(event.body, place).map((streamed) => ({
			type: "stream_event",
			event: streamed,
			...this.#place(parent),
		}));
	}

	#complete({ body, at }: AgentEvent, parent: string | null): readonly object[] {
		switch (body.type) {
			case "step.started":
				this.#messages.delete(parent);
				return [];
			case "content.completed": {
				const block = toBlock(body.part);
				return block === null ? [] : [this.#assistant(block, parent)];
			}
			case "tool.requested": {
				const { id, function: called } = body.call;
				this.#open.set(id, parent);
				return [this.#assistant({ type: "tool_use", id, ...readClientCall(called.name, called.arguments) }, parent)];
			}
			case "tool.result":
				this.#open.delete(body.toolCallId);
				return [this.#user([toResultBlock(body.toolCallId, body.result)], parent)];
			case "tool.outcome-unknown": {
				this.#open.delete(body.toolCallId);
				const content = "The program was interrupted; whether the call had an effect is unknown.";
				return [this.#failed(body.toolCallId, content, parent)];
			}
			case "step.interrupted":
			case "turn.ended":
				return this.#endCalls("The call was interrupted.", parent);
			case "compaction.ended": {
				const metadata = { trigger: "auto", pre_tokens: 0 };
				return [{ type: "system", subtype: "compact_boundary", compact_metadata: metadata, ...this.#own() }];
			}
			case "step.retrying":
				return [
					...this.#endCalls("The call was not made: the model's answer broke off.", parent),
					{
						type: "system",
						subtype: "api_retry",
						attempt: body.next_attempt - 1,
						max_retries: body.max_attempts - 1,
						retry_delay_ms: Math.round(body.wait_s * 1000),
						error_status: body.status_code,
						error: body.error_type,
						...this.#own(),
					},
				];
			case "notification.raised": {
				if (body.category !== "task") return [];
				const status = body.severity === "error" ? "failed" : "completed";
				const notified = { task_id: body.source_id, status, output_file: "", summary: body.title };
				return [{ type: "system", subtype: "task_notification", ...notified, timestamp: at, ...this.#own() }];
			}
			default:
				return [];
		}
	}

	#assistant(block: object, parent: string | null): object {
		return {
			type: "assistant",
			message: {
				id: this.#messageOf(parent),
				type: "message",
				role: "assistant",
				model: this.#settings.model(),
				content: [block],
				stop_reason: null,
				stop_sequence: null,
				usage: toClientUsage(noUsage),
			},
			...this.#place(parent),
		};
	}

	#user(content: readonly object[], parent: string | null): object {
		return { type: "user", message: { role: "user", content }, ...this.#place(parent) };
	}

	/** Every call has a result: that of a call which the model or a person broke off. */
	#endCalls(content: string, parent: string | null): readonly object[] {
		const ids = [...this.#open].flatMap(([id, of]) => (of === parent ? [id] : []));
		return ids.map((id) => {
			this.#open.delete(id);
			return this.#failed(id, content, parent);
		});
	}

	#failed(id: string, content: string, parent: string | null): object {
		return this.#user([{ type: "tool_result", tool_use_id: id, content, is_error: true }], parent);
	}

	#messageOf(parent: string | null): string {
		const known = this.#messages.get(parent);
		if (known !== undefined) return known;
		const id = `msg_${this.#settings.uuid().replaceAll("-", "")}`;
		this.#messages.set(parent, id);
		return id;
	}

	#place(parent: string | null) {
		return { parent_tool_use_id: parent, ...this.#own() };
	}

	#own() {
		return { session_id: this.#settings.sessionId, uuid: this.#settings.uuid() };
	}
}

function toBlock(part: ContentPart): object | null {
	switch (part.type) {
		case "text":
			return { type: "text", text: part.text };
		case "think":
			return { type: "thinking", thinking: part.think, signature: part.encrypted ?? "" };
		case "image_url":
		case "audio_url":
		case "video_url":
			return null;
	}
}

function toResultBlock(id: string, { output, message, is_error }: ToolReturn): object {
	return {
		type: "tool_result",
		tool_use_id: id,
		content: typeof output === "string" ? withMessage(output, message) : output.map(toResultPart),
		...(is_error ? { is_error: true } : {}),
	};
}

const withMessage = (output: string, message: string) =>
	output === "" || message === "" ? `${output}${message}` : `${output}\n${message}`;

function toResultPart(part: ContentPart): object {
	if (part.type === "text") return part;
	if (part.type === "image_url") return toImageBlock(part.image_url.url);
	return { type: "text", text: `(${part.type})` };
}

function toImageBlock(url: string): object {
	const { type, data } = /^data:(?<type>[^;,]+);base64,(?<data>[\s\S]*)$/.exec(url)?.groups ?? {};
	const source = type === undefined ? { type: "url", url } : { type: "base64", media_type: type, data };
	return { type: "image", source };
}
