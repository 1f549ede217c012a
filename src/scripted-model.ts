// A model that gives prepared answers, for tests of programs that embed the kernel.
import type { Model, ModelChunk, ModelPart, ModelRequest } from "./agent-options.ts";

/** A text, or tool calls with, perhaps, a text before them. */
export type ScriptedAnswer =
	| string
	| {
			readonly text?: string;
			readonly calls: readonly { readonly tool: string; readonly arguments: Readonly<Record<string, unknown>> }[];
	  };

/**
 * Gives these answers in turn, across all sessions. A function makes its answer from the request. A request after the last
 * answer fails, which ends its turn as failed.
 */
export function scriptedModel(
	answers: readonly (ScriptedAnswer | ((request: ModelRequest) => ScriptedAnswer))[],
): Model {
	let count = 0;
	return {
		name: "scripted",
		maxContextSize: 100_000,
		capabilities: new Set(["image_in"]),
		async *stream(request): AsyncGenerator<ModelChunk> {
			const next = answers[count];
			count += 1;
			if (next === undefined) {
				const message = `The script has ${answers.length} answers; this is request ${count}.`;
				yield { type: "failed", failure: { kind: "defect", message, statusCode: null, retryAfter: null } };
				return;
			}
			yield { type: "parts", parts: toParts(typeof next === "function" ? next(request) : next, count) };
			yield { type: "done", usage: null, messageId: null };
		},
	};
}

function toParts(answer: ScriptedAnswer, n: number): readonly ModelPart[] {
	if (typeof answer === "string") return [{ type: "text", text: answer }];
	const { text = "", calls } = answer;
	return [
		...(text === "" ? [] : [{ type: "text" as const, text }]),
		...calls.map((call, index) => ({
			type: "function" as const,
			id: `call-${n}-${index + 1}`,
			function: { name: call.tool, arguments: JSON.stringify(call.arguments) },
			extras: null,
		})),
	];
}
