// Converts the stream parts of a `LanguageModelV3` to ours: pieces of one tool call are consecutive, whatever else
// streams meanwhile, and stored metadata goes with its part.
import type { LanguageModelV3StreamPart, LanguageModelV3Usage, SharedV3ProviderMetadata } from "@ai-sdk/provider";
import type { ContentPart, TokenUsage } from "../../../api/values/content.ts";
import { requestFailure } from "../http/request-failure.ts";
import type { ModelPart } from "../model.ts";
import { isNothing, type ProviderMemory, pickRetained, type Retained, toExtras, toSeal } from "./memory.ts";

export type FinishPart = Extract<LanguageModelV3StreamPart, { type: "finish" }>;

export interface PartReader {
	/** Adds the next part of the stream. Throws RequestFailure when it is an error. */
	read(part: LanguageModelV3StreamPart): void;
	/** The parts that can be emitted now. */
	take(): ModelPart[];
	readonly answer: Answer;
}

export interface Answer {
	/** Null until the package has reported the end of the answer. */
	readonly finish: FinishPart | null;
	readonly messageId: string | null;
	/** Whether there has been nothing but reasoning. */
	readonly isEmpty: boolean;
}

interface CallDraft {
	readonly id: string;
	readonly name: string;
	readonly retained: Retained;
	arguments: string;
	/** Pieces of the open call are emitted; later calls wait until it is complete. */
	state: "waiting" | "open" | "closed";
	isComplete: boolean;
}

type Waiting =
	| { readonly kind: "content"; readonly part: ContentPart }
	| { readonly kind: "call"; readonly call: CallDraft };

export function createPartReader(memory: ProviderMemory): PartReader {
	const answer: { -readonly [Key in keyof Answer]: Answer[Key] } = { finish: null, messageId: null, isEmpty: true };
	const calls: CallDraft[] = [];
	const waiting: Waiting[] = [];
	/** The open call. */
	let current: CallDraft | null = null;
	/** The reasoning part whose metadata is not complete yet. */
	let thought: { readonly id: string; retained: Retained } | null = null;
	let ready: ModelPart[] = [];

	const release = () => {
		for (;;) {
			if (current !== null && !current.isComplete && answer.finish === null) return;
			const next = waiting.shift();
			if (next === undefined) return;
			if (current !== null) current.state = "closed";
			current = null;
			if (next.kind === "content") {
				ready.push(next.part);
				continue;
			}
			current = next.call;
			current.state = "open";
			const { id, name, retained } = current;
			const given = current.arguments === "" ? null : current.arguments;
			ready.push({ type: "function", id, function: { name, arguments: given }, extras: toExtras(memory, retained) });
		}
	};

	const addContent = (part: ContentPart) => {
		waiting.push({ kind: "content", part });
		release();
	};
	const endReasoning = () => {
		const ended = thought;
		thought = null;
		if (ended !== null && !isNothing(ended.retained)) addContent(toSeal(memory, "thought", ended.retained));
	};
	const addReasoning = (id: string, text: string, metadata: SharedV3ProviderMetadata | undefined) => {
		if (thought?.id !== id) {
			endReasoning();
			thought = { id, retained: {} };
		}
		if (text !== "") addContent({ type: "think", think: text, encrypted: null });
		thought.retained = { ...thought.retained, ...pickRetained(memory, "thought", metadata) };
	};
	const addText = (text: string, metadata: SharedV3ProviderMetadata | undefined) => {
		endReasoning();
		if (text !== "") {
			answer.isEmpty = false;
			addContent({ type: "text", text });
		}
		const retained = pickRetained(memory, "text", metadata);
		if (!isNothing(retained)) addContent(toSeal(memory, "text", retained));
	};

	const findCall = (id: string): CallDraft | null =>
		calls.findLast((call) => call.id === id && !call.isComplete) ?? null;
	const beginCall = (id: string, name: string, metadata: SharedV3ProviderMetadata | undefined): CallDraft => {
		endReasoning();
		answer.isEmpty = false;
		const retained = pickRetained(memory, "call", metadata);
		const call: CallDraft = { id, name, retained, arguments: "", state: "waiting", isComplete: false };
		calls.push(call);
		waiting.push({ kind: "call", call });
		return call;
	};
	const extendCall = (call: CallDraft, piece: string) => {
		if (piece === "") return;
		call.arguments += piece;
		if (call.state === "open") ready.push({ type: "tool_call_part", arguments_part: piece });
	};

	const finish = (part: FinishPart) => {
		endReasoning();
		answer.finish = part;
		release();
		const last = calls.at(-1);
		// Truncated before its arguments began: they are left unparsable, because it must not run without any.
		if (part.finishReason.unified === "length" && last?.state === "open" && last.arguments === "")
			extendCall(last, "{");
	};

	return {
		answer,
		take() {
			const parts = ready;
			ready = [];
			return parts;
		},
		read(part) {
			switch (part.type) {
				case "text-start":
				case "text-end":
					addText("", part.providerMetadata);
					break;
				case "text-delta":
					addText(part.delta, part.providerMetadata);
					break;
				case "reasoning-start":
					addReasoning(part.id, "", part.providerMetadata);
					break;
				case "reasoning-delta":
					addReasoning(part.id, part.delta, part.providerMetadata);
					break;
				case "reasoning-end":
					addReasoning(part.id, "", part.providerMetadata);
					endReasoning();
					break;
				case "tool-input-start":
					if (part.providerExecuted === true) break;
					beginCall(part.id, part.toolName, part.providerMetadata);
					release();
					break;
				case "tool-input-delta": {
					const call = findCall(part.id);
					if (call !== null) extendCall(call, part.delta);
					break;
				}
				case "tool-call": {
					if (part.providerExecuted === true) break;
					const call = findCall(part.toolCallId) ?? beginCall(part.toolCallId, part.toolName, part.providerMetadata);
					// Packages report {} where nothing was streamed.
					if (call.arguments === "" && part.input !== "{}") extendCall(call, part.input);
					call.isComplete = true;
					release();
					break;
				}
				case "response-metadata":
					answer.messageId ??= part.id ?? null;
					break;
				case "finish":
					finish(part);
					break;
				case "error":
					throw requestFailure("provider", "The provider sent an event that does not fit its protocol.");
				case "stream-start":
				case "raw":
				case "tool-input-end":
				case "tool-approval-request":
				case "tool-result":
				case "file":
				case "source":
					break;
			}
		},
	};
}

/** The four counts, which do not overlap; null when the provider reported none. */
export function toTokenUsage({ inputTokens, outputTokens }: LanguageModelV3Usage): TokenUsage | null {
	const read = inputTokens.cacheRead ?? 0;
	const creation = inputTokens.cacheWrite ?? 0;
	// Some report more cached tokens than tokens of the prompt.
	const other = Math.max(0, inputTokens.noCache ?? (inputTokens.total ?? 0) - read - creation);
	const output = outputTokens.total ?? (outputTokens.text ?? 0) + (outputTokens.reasoning ?? 0);
	if (read + creation + other + output === 0) return null;
	return { input_other: other, output, input_cache_read: read, input_cache_creation: creation };
}
