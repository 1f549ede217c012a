// One attempt at a model call: emits the answer as it streams and starts each tool call once it is complete.
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
	/** Complete, except for its last tool call, which the caller starts after emitting the status. */
	| {
			readonly kind: "answered";
			readonly assembly: Assembly;
			readonly calls: RunningCalls;
			readonly usage: TokenUsage | null;
			readonly messageId: string | null;
			/** Null when the model had finished. */
			readonly end: AnswerEnd | null;
			/** Whether it ends within its last call, which is not run: its result says so. */
			readonly isCutOff: boolean;
	  }
	/** The calls it started have ended. Of those that acted, `lost` has what the next attempt must know. */
	| { readonly kind: "failed"; readonly failure: ModelFailure; readonly lost: LostAnswer }
	| { readonly kind: "cancelled" };

/** What a failed attempt leaves: what the model had said and thought, and the calls that began to change something. */
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
				// A limit that leaves no room for an answer will not do so the next time.
				if (assembly.isEmpty() && end?.kind !== "truncated") return await fail(emptyAnswer);
				const isCutOff = last !== null && end?.kind === "truncated" && !isComplete(last);
				const ending = withLastCall(calls, last, isCutOff);
				return { kind: "answered", assembly, calls: ending, usage, messageId, end, isCutOff };
			}
			// What came together is persisted together: waiting for one part after the other takes far longer.
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

/** Parts that are persisted together at most: clients that do not read hold up the model after so many more. */
const persistedTogether = 64;

function allOf(promises: readonly Promise<void>[]): Promise<unknown> | undefined {
	return promises.length > 1 ? Promise.all(promises) : promises[0];
}

/** Whether the arguments of a truncated answer's last call are all there: half of them are no JSON object. */
function isComplete({ function: { arguments: text } }: ToolCall): boolean {
	return text !== null && text.trim() !== "" && decodeArguments(text).ok;
}

/** Defers the last call until its results are requested, after the status of the answer was emitted. */
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

/** What the model thinks stays between it and the program, where the request says so. */
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
