// A model that says what a test wrote down, stops at gates, and remembers what it was asked.

import { type TokenUsage, textPart } from "../../../src/api/values/content.ts";
import { createDeferred } from "../../../src/base/deferred.ts";
import {
	type Capability,
	type Model,
	type ModelChunk,
	type ModelPart,
	type ModelRequest,
	modelFailure,
} from "../../../src/core/models/model.ts";
import { toolCall } from "./model-conversation.ts";

/** Holds a stream until opened; `reached` resolves when the stream has come to it. */
export interface ModelGate {
	readonly type: "gate";
	readonly reached: Promise<void>;
	open(): void;
	/** For the model alone. */
	pass(signal: AbortSignal): Promise<void>;
}

export function createModelGate(): ModelGate {
	const reached = createDeferred<void>();
	const opened = createDeferred<void>();
	return {
		type: "gate",
		reached: reached.promise,
		open: () => opened.resolve(),
		pass(signal) {
			reached.resolve();
			return new Promise((resolve) => {
				void opened.promise.then(resolve);
				signal.addEventListener("abort", () => resolve(), { once: true });
				if (signal.aborted) resolve();
			});
		},
	};
}

/** One answer: chunks and gates in order. After the last chunk the stream ends. */
export type ModelScript = readonly (ModelChunk | ModelGate)[];

export interface ScriptedModel extends Model {
	readonly requests: readonly ModelRequest[];
}

/** Answers the requests with the scripts in order; a request too many fails as a defect. */
export function createScriptedModel(
	scripts: readonly ModelScript[],
	capabilities: readonly Capability[] = [],
): ScriptedModel {
	const requests: ModelRequest[] = [];
	return {
		name: "scripted",
		maxContextSize: 1000,
		capabilities: new Set(capabilities),
		requests,
		async *stream(request, signal) {
			const script = scripts[requests.length];
			requests.push({ ...request, messages: [...request.messages] });
			if (script === undefined) {
				yield modelFailure("defect", "no script is left");
				return;
			}
			for (const move of script) {
				if (move.type === "gate") await move.pass(signal);
				if (signal.aborted) return;
				if (move.type !== "gate") yield move;
			}
		},
	};
}

export function parts(...pieces: readonly ModelPart[]): ModelChunk {
	return { type: "parts", parts: pieces };
}

export function say(text: string): ModelChunk {
	return parts(textPart(text));
}

export function call(id: string, name: string, value: string | null = "{}"): ModelChunk {
	return parts(toolCall(id, name, value));
}

export function done(usage: TokenUsage | null = null, messageId: string | null = null): ModelChunk {
	return { type: "done", usage, messageId };
}
