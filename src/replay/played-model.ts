import { textPart } from "../api/values/content.ts";
import { unlessAborted } from "../base/abort.ts";
import {
	capabilities,
	createFailure,
	type Model,
	type ModelChunk,
	type ModelPart,
	type ModelRequest,
} from "../core/models/model.ts";
import { lastFailure } from "./answers.ts";
import type { Conductor } from "./conductor.ts";
import { answerTo } from "./played-questions.ts";
import type { Score } from "./score.ts";

/** The limits of turns, as far as the recording shows them. */
export interface PlayedLimits {
	maxSteps: number;
	maxAttempts: number;
}

const unknownSummary = "(The summary is not recorded.)";

export function createPlayedModel(score: Score, conductor: Conductor, limits: PlayedLimits): Model {
	async function* stream({ tools, messages }: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelChunk, void> {
		if (tools.length === 0 && score.body(score.position)?.type === "compaction.ended") {
			yield* summarize(score);
			return;
		}
		const aside = tools.length === 0 ? answerTo(score, messages.at(-1)?.content) : null;
		if (aside !== null) {
			const { response, error } = aside;
			if (response !== null) yield { type: "parts", parts: [textPart(response)] };
			if (response !== null) yield { type: "done", usage: null, messageId: null };
			else yield { type: "failed", failure: createFailure("provider", error ?? "") };
			return;
		}
		const waitFor = async (isDue: () => boolean): Promise<boolean> => {
			await unlessAborted(conductor.when(isDue), signal);
			return !signal.aborted;
		};
		const answer = score.answers.shift();
		if (answer === undefined) {
			conductor.differ({ seq: null, place: "", recorded: "nothing", replayed: '"one more request to the model"' });
			await waitFor(() => false);
			return;
		}
		for (const index of answer.parts) {
			const part = toPart(score, index);
			if (part === null || !(await waitFor(() => score.isOpen(index)))) return;
			yield { type: "parts", parts: [part] };
			conductor.release(score, index);
		}
		const { end } = answer;
		if (!(await waitFor(() => end.kind !== "cut" && score.isReached(end.index))) || end.kind === "cut") return;
		if (end.kind === "failed") {
			limits.maxAttempts = end.maxAttempts;
			yield { type: "failed", failure: end.failure };
			return;
		}
		const { token_usage: usage, message_id: messageId } = end.status;
		yield { type: "done", usage, messageId, ...(end.end === null ? {} : { end: end.end }) };
	}

	return {
		name: "recorded",
		/** The window of the next answer; zero while a compaction is due. */
		get maxContextSize() {
			const [next, after] = [score.body(score.position), score.body(score.position + 1)];
			const isStep = next?.type === "step.started" && after?.type === "compaction.started";
			return isStep ? 0 : (sizeFrom(score, score.position) ?? Number.MAX_SAFE_INTEGER);
		},
		capabilities: new Set(capabilities),
		stream,
	};
}

function sizeFrom({ events }: Score, position: number): number | null {
	for (const { body } of [...events.slice(position), ...events.slice(0, position).reverse()]) {
		if (body.type !== "status.changed") continue;
		if (body.max_context_tokens !== null) return body.max_context_tokens;
	}
	return null;
}

function* summarize(score: Score): Generator<ModelChunk, void> {
	const after = score.body(score.position + 1);
	const isFailed =
		after?.type === "step.interrupted" || (after?.type === "turn.ended" && after.outcome?.status === "failed");
	if (isFailed) {
		yield { type: "failed", failure: { ...lastFailure(score.events, score.position), kind: "provider" } };
		return;
	}
	yield { type: "parts", parts: [textPart(unknownSummary)] };
	yield { type: "done", usage: null, messageId: null };
}

function toPart(score: Score, index: number): ModelPart | null {
	const body = score.body(index);
	switch (body?.type) {
		case "content.completed":
			return body.part;
		case "tool.requested":
			return body.call;
		case "tool-call.fragment":
			return { type: "tool_call_part", arguments_part: body.arguments_part };
		default:
			return null;
	}
}
