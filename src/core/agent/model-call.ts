import { decodeArguments } from "../../api/values/call-arguments.ts";
import type { ContentPart, TokenUsage, ToolCall } from "../../api/values/content.ts";
import type { EventBody } from "../../api/values/event.ts";
import {
	type AnswerEnd,
	createFailure,
	type Model,
	type ModelFailure,
	type ModelPart,
	type ModelRequest,
} from "../models/model.ts";
import { type Assembly, createAssembly } from "./assembly.ts";
import type { TurnDependencies } from "./dependencies.ts";
import type { RepetitionGuard } from "./repetition.ts";
import { emptyAnswer } from "./retries.ts";
import { type ActedCall, createRunningCalls, type RunningCalls } from "./running-calls.ts";
import { incompleteCall } from "./tool-results.ts";

export type ModelCallOutcome =
	/** Complete except for the last tool call, which the caller starts after emitting the status. */
	| {
			readonly kind: "answered";
			readonly assembly: Assembly;
			readonly calls: RunningCalls;
			readonly usage: TokenUsage | null;
			readonly messageId: string | null;
			/** Null if the model finished normally. */
			readonly end: AnswerEnd | null;
			/** Whether it ends within its last call, which is not run; the call's result says so. */
			readonly isCutOff: boolean;
	  }
	/** The started calls have ended. `lost` describes those with effects, for the next attempt. */
	| { readonly kind: "failed"; readonly failure: ModelFailure; readonly lost: LostAnswer }
	| { readonly kind: "cancelled" };

export interface LostAnswer {
	readonly content: readonly ContentPart[];
	readonly acted: readonly ActedCall[];
}

export async function callModel(
	model: Model,
	request: ModelRequest,
	dependencies: TurnDependencies,
	repetition: RepetitionGuard,
	signal: AbortSignal,
): Promise<ModelCallOutcome> {
	const assembly = createAssembly();
	const calls = createRunningCalls(dependencies, repetition.beginAnswer(), signal);
	const fail = async (failure: ModelFailure): Promise<ModelCallOutcome> => {
		await calls.abandon();
		if (signal.aborted) return { kind: "cancelled" };
		assembly.end();
		return { kind: "failed", failure, lost: { content: assembly.content(), acted: calls.acted() } };
	};
	try {
		for await (const chunk of model.stream(request, signal)) {
			if (signal.aborted) break;
			if (chunk.type === "failed") return await fail(chunk.failure);
			if (chunk.type === "done") {
				const last = assembly.end();
				const { usage, messageId, end = null } = chunk;
				// If the token limit leaves no room for an answer, a retry does not help.
				if (assembly.isEmpty() && end?.kind !== "truncated") return await fail(emptyAnswer);
				const isCutOff = last !== null && end?.kind === "truncated" && !isComplete(last);
				const ending = withLastCall(calls, last, isCutOff);
				return { kind: "answered", assembly, calls: ending, usage, messageId, end, isCutOff };
			}
			// Parts that arrive together are persisted together, which is much faster than one by one.
			let waiting: Promise<void>[] = [];
			for (const part of chunk.parts) {
				const emitting = isHidden(part, request) ? undefined : dependencies.emit(toDelta(part));
				if (emitting !== undefined) waiting.push(emitting);
				const completed = assembly.push(part);
				if (completed === null && waiting.length < persistedTogether) continue;
				await allOf(waiting);
				waiting = [];
				if (signal.aborted) break;
				if (completed !== null) calls.start(completed);
			}
			if (waiting.length > 0) await allOf(waiting);
		}
	} catch (thrown) {
		await calls.abandon();
		throw thrown;
	}
	return await fail(createFailure("connection", "The model's answer broke off."));
}

/** Maximum parts persisted together; beyond, slow clients hold up the model. */
const persistedTogether = 64;

function allOf(promises: readonly Promise<void>[]): Promise<unknown> | undefined {
	return promises.length > 1 ? Promise.all(promises) : promises[0];
}

/** Whether the arguments of a truncated answer's last call are complete: partial arguments are not valid JSON. */
function isComplete({ function: { arguments: text } }: ToolCall): boolean {
	return text !== null && text.trim() !== "" && decodeArguments(text).ok;
}

/** Starts the last call only when results are requested, after the answer's status was emitted. */
function withLastCall(calls: RunningCalls, last: ToolCall | null, isIncomplete: boolean): RunningCalls {
	let waiting = last;
	return {
		...calls,
		results: () => {
			if (waiting !== null) calls.start(waiting, isIncomplete ? incompleteCall : null);
			waiting = null;
			return calls.results();
		},
	};
}

function isHidden({ type }: ModelPart, { sampling }: ModelRequest): boolean {
	return type === "think" && sampling?.thinking === "hidden";
}

function toDelta(part: ModelPart): EventBody {
	switch (part.type) {
		case "tool_call_part":
			return { type: "tool-call.delta", arguments_part: part.arguments_part };
		case "function":
			return { type: "tool-call.started", call: part };
		default:
			return { type: "content.delta", part };
	}
}
