import type { ContentPart, TokenUsage } from "../../api/values/content.ts";
import type { HistoryEntry } from "../../api/values/conversation.ts";
import { truncationText } from "../../api/values/truncation.ts";
import type { Sampling } from "../../api/values/turn-options.ts";
import { type AnswerEnd, createFailure, type Model, type ModelFailure } from "../models/model.ts";
import { createAssembly } from "./assembly.ts";
import type { TurnDependencies } from "./dependencies.ts";
import { createPatience, retryNotice } from "./patience.ts";
import { emptyAnswer, withRetries } from "./retries.ts";

export interface SilentRequest {
	readonly systemPrompt: string;
	readonly messages: readonly HistoryEntry[];
	readonly cacheKey: string;
	readonly knownTokens?: number;
	readonly sampling?: Sampling;
}

export type SilentAnswer =
	| {
			readonly kind: "answered";
			readonly content: readonly ContentPart[];
			readonly usage: TokenUsage | null;
			/** Why the answer is incomplete; null if complete. */
			readonly end: AnswerEnd | null;
	  }
	| { readonly kind: "failed"; readonly failure: ModelFailure }
	| { readonly kind: "cancelled" };

const brokenOff = createFailure("connection", "The model's answer broke off.");

export type Retrying = Pick<TurnDependencies, "clock" | "random" | "limits" | "emit">;

/** Makes the request with retries; returns the answer without reasoning. An empty answer is a failure. */
export async function askSilently(
	model: Model,
	request: SilentRequest,
	retrying: Retrying,
	signal: AbortSignal,
): Promise<SilentAnswer> {
	const patience = createPatience(model, retrying);
	return await withRetries(
		() => askOnce(patience.model, request, signal),
		{ ...retrying, isSpent: patience.isSpent },
		(retry) => retrying.emit(retryNotice(retry, retrying.clock)),
		signal,
	);
}

async function askOnce(model: Model, request: SilentRequest, signal: AbortSignal): Promise<SilentAnswer> {
	const assembly = createAssembly();
	for await (const chunk of model.stream({ ...request, tools: [] }, signal)) {
		if (signal.aborted) break;
		if (chunk.type === "failed") return { kind: "failed", failure: chunk.failure };
		if (chunk.type === "parts") for (const part of chunk.parts) assembly.push(part);
		else {
			assembly.end();
			const content = assembly.content().filter((part) => part.type !== "think");
			if (assembly.isEmpty() || content.length === 0) return { kind: "failed", failure: emptyAnswer };
			return { kind: "answered", content, usage: chunk.usage, end: chunk.end ?? null };
		}
	}
	return signal.aborted ? { kind: "cancelled" } : { kind: "failed", failure: brokenOff };
}

export function incompleteText({ kind, reason }: AnswerEnd): string {
	return kind === "truncated"
		? truncationText(reason)
		: `The answer is incomplete: the provider paused it (${reason}).`;
}
