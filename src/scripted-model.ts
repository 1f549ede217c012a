import type { Model, ModelChunk, ModelPart, ModelRequest } from "./agent-options.ts";

type Done = Extract<ModelChunk, { readonly type: "done" }>;
type Failure = Extract<ModelChunk, { readonly type: "failed" }>["failure"];

/** A text, or an answer whose fields are streamed in this order. */
export type ScriptedAnswer =
	| string
	| {
			readonly thinking?: string;
			readonly text?: string;
			/** Text as `arguments` is sent unchanged, even if it is not JSON. */
			readonly calls?: readonly {
				readonly tool: string;
				readonly arguments: Readonly<Record<string, unknown>> | string;
			}[];
			/** The answer reached the token limit. */
			readonly truncated?: boolean;
			readonly usage?: NonNullable<Done["usage"]>;
			/** The request fails after what was streamed. The kernel retries as for a provider. */
			readonly failure?: Pick<Failure, "kind"> & Partial<Failure>;
	  };

export type ScriptedAnswers = readonly (ScriptedAnswer | ((request: ModelRequest) => ScriptedAnswer))[];

export interface ScriptedModel extends Model {
	/** The model's requests, oldest first. */
	readonly requests: readonly ModelRequest[];
	/** Number of remaining answers. */
	readonly remaining: number;
}

/** Gives these answers in turn, across all sessions. A request after the last answer fails. */
export function scriptedModel(answers: ScriptedAnswers): ScriptedModel {
	const requests: ModelRequest[] = [];
	return {
		name: "scripted",
		maxContextSize: 100_000,
		capabilities: new Set(["image_in", "thinking"]),
		requests,
		get remaining() {
			return Math.max(0, answers.length - requests.length);
		},
		async *stream(request): AsyncGenerator<ModelChunk> {
			const next = answers[requests.length];
			requests.push({ ...request, messages: [...request.messages] });
			if (next === undefined) {
				const message = `The script has ${answers.length} answers; this is request ${requests.length}.`;
				yield toFailed({ kind: "defect", message });
				return;
			}
			const n = requests.length;
			const given = typeof next === "function" ? next(request) : next;
			const answer = typeof given === "string" ? { text: given } : given;
			const parts = toParts(answer, n);
			if (parts.length > 0) yield { type: "parts", parts };
			if (answer.failure !== undefined) yield toFailed(answer.failure);
			else yield toDone(answer);
		},
	};
}

type FullAnswer = Exclude<ScriptedAnswer, string>;

function toFailed({
	kind,
	message = `scripted failure: ${kind}`,
	statusCode = null,
	retryAfter = null,
}: NonNullable<FullAnswer["failure"]>): ModelChunk {
	return { type: "failed", failure: { kind, message, statusCode, retryAfter } };
}

function toDone({ usage, truncated = false }: FullAnswer): ModelChunk {
	const done = { type: "done" as const, usage: usage ?? null, messageId: null };
	return truncated ? { ...done, end: { kind: "truncated", reason: "max_tokens" } } : done;
}

function toParts({ thinking = "", text = "", calls = [] }: FullAnswer, n: number): readonly ModelPart[] {
	return [
		...(thinking === "" ? [] : [{ type: "think" as const, think: thinking, encrypted: null }]),
		...(text === "" ? [] : [{ type: "text" as const, text }]),
		...calls.map((call, index) => ({
			type: "function" as const,
			id: `call-${n}-${index + 1}`,
			function: {
				name: call.tool,
				arguments: typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments),
			},
			extras: null,
		})),
	];
}
