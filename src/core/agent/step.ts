import { inputTokens, joinTexts } from "../../api/values/content.ts";
import type { ContextRow } from "../../api/values/conversation.ts";
import { type StatusFields, statusChanged } from "../../api/values/event.ts";
import type { Model, ModelFailure } from "../models/model.ts";
import { messageRow } from "./context.ts";
import type { TurnDependencies } from "./dependencies.ts";
import { callModel, type LostAnswer, type ModelCallOutcome } from "./model-call.ts";
import { createPatience } from "./patience.ts";
import type { RepetitionGuard } from "./repetition.ts";
import { requestBasis, requestMessages } from "./request-basis.ts";
import { type StepFailure, toStepFailure, withRetries } from "./retries.ts";
import type { SettledCall } from "./tool-call.ts";
import { brokenOffCall, toToolMessage } from "./tool-results.ts";

export type StepOutcome =
	| {
			readonly kind: "done";
			/** Whether the model still has to see its tool results. */
			readonly wantsMore: boolean;
			readonly isRefused: boolean;
			/** The provider's reason if the answer was truncated and no call could run; else null. */
			readonly truncated: string | null;
	  }
	| StepFailure
	| { readonly kind: "overflow"; readonly failure: ModelFailure }
	| { readonly kind: "cancelled" };

export async function runStep(
	n: number,
	model: Model,
	dependencies: TurnDependencies,
	repetition: RepetitionGuard,
	signal: AbortSignal,
): Promise<StepOutcome> {
	const { context, runHooks, sampling } = dependencies;
	if (runHooks !== undefined) {
		await runHooks.request({
			messageCount: context.messages.length,
			maxTokens: sampling?.maxTokens ?? null,
			temperature: sampling?.temperature ?? null,
		});
		if (signal.aborted) return { kind: "cancelled" };
	}
	const answer = await callWithRetries(n, model, dependencies, repetition, signal);
	if (answer.kind === "cancelled") return answer;
	if (answer.kind === "failed") {
		const { failure } = answer;
		return failure.kind === "overflow" ? { kind: "overflow", failure } : toStepFailure(failure);
	}

	const { assembly, calls, usage, end, isCutOff } = answer;
	// Tools may switch plan mode at any moment; the emitted state counts.
	const reportedPlanMode = dependencies.planMode();
	try {
		const counted = usage === null ? null : context.append([{ type: "usage", tokenCount: inputTokens(usage) }]);
		await Promise.all([counted, dependencies.emit(answerStatus(model, answer, reportedPlanMode))]);
		if (runHooks !== undefined)
			await runHooks.answer({ text: joinTexts(assembly.content(), ""), calls: assembly.toolCalls(), usage });
	} catch (thrown) {
		await calls.abandon();
		throw thrown;
	}
	if (signal.aborted) {
		await calls.abandon();
		return { kind: "cancelled" };
	}
	const settled = await settleAll(calls.results(), calls.abandon);
	const results = settled.filter((call) => call !== null);
	if (signal.aborted || results.length < settled.length) return { kind: "cancelled" };
	const planMode = dependencies.planMode();
	if (planMode !== reportedPlanMode) await dependencies.emit(statusChanged({ plan_mode: planMode }));

	const toolCalls = assembly.toolCalls();
	const message = { role: "assistant", content: assembly.content() } as const;
	// Providers reject empty messages.
	const rows: ContextRow[] = assembly.isEmpty()
		? []
		: [messageRow(toolCalls.length === 0 ? message : { ...message, toolCalls })];
	if (usage !== null) rows.push({ type: "usage", tokenCount: inputTokens(usage) + usage.output });
	toolCalls.forEach((call, index) => {
		const result = results[index]?.result;
		if (result !== undefined) rows.push(messageRow(toToolMessage(call.id, result)));
	});
	await context.appendWithNext(rows);
	await dependencies.commit();
	if (runHooks !== undefined) await runHooks.stepEnded();
	const isRefused = !dependencies.isSubagent && isStoppedByRejection(results);
	const wantsMore = (toolCalls.length > 0 || end?.kind === "paused") && !isRefused;
	const hasRun = toolCalls.length > (isCutOff ? 1 : 0);
	return { kind: "done", wantsMore, isRefused, truncated: end?.kind === "truncated" && !hasRun ? end.reason : null };
}

/** If persisting or emitting a result fails, aborts the other calls and rethrows. */
async function settleAll(
	results: Promise<readonly (SettledCall | null)[]>,
	abandon: () => Promise<void>,
): Promise<readonly (SettledCall | null)[]> {
	try {
		return await results;
	} catch (thrown) {
		await abandon();
		throw thrown;
	}
}

/** A refusal without feedback stops the turn, unless another refusal of the step has feedback. */
function isStoppedByRejection(results: readonly SettledCall[]): boolean {
	const rejections = results.map(({ rejection }) => rejection);
	return rejections.includes("plain") && !rejections.includes("with-feedback");
}

type FailedCall = Extract<ModelCallOutcome, { kind: "failed" }>;

async function callWithRetries(
	n: number,
	model: Model,
	dependencies: TurnDependencies,
	repetition: RepetitionGuard,
	signal: AbortSignal,
): Promise<Exclude<ModelCallOutcome, FailedCall> | Pick<FailedCall, "kind" | "failure">> {
	const { context, emit } = dependencies;
	const patience = createPatience(model, dependencies);
	const tools = await dependencies.tools.specifications();
	const attempt = async (): Promise<ModelCallOutcome> => {
		const request = {
			...requestBasis(dependencies),
			tools,
			messages: requestMessages(dependencies),
			...(context.tokenCount > 0 ? { knownTokens: context.tokenCount } : {}),
		};
		const outcome = await callModel(patience.model, request, dependencies, repetition, signal);
		// Stored together with the event that voids the answer or ends the step.
		if (outcome.kind === "failed" && outcome.lost.acted.length > 0)
			await context.appendWithNext(toLostRows(outcome.lost));
		return outcome;
	};
	return await withRetries(
		attempt,
		{ ...dependencies, isSpent: patience.isSpent },
		({ attempt, maxAttempts, wait, errorType, statusCode, reason }) =>
			emit({
				type: "step.retrying",
				n,
				next_attempt: attempt,
				max_attempts: maxAttempts,
				wait_s: wait,
				error_type: errorType,
				status_code: statusCode,
				reason,
			}),
		signal,
	);
}

/** Tells the model about effective calls of a failed attempt, with the reasoning that some providers require. */
function toLostRows({ content, acted }: LostAnswer): ContextRow[] {
	const reasoning = content.filter((part) => part.type === "think");
	const results = acted.map(({ call, result }) => toToolMessage(call.id, result ?? brokenOffCall));
	return [{ role: "assistant", content: reasoning, toolCalls: acted.map(({ call }) => call) } as const, ...results].map(
		messageRow,
	);
}

/** The status after an answer; context counts are set only if the provider reported usage (wire-protocol §3.3). */
function answerStatus(
	model: Model,
	{ usage, messageId, end }: Extract<ModelCallOutcome, { kind: "answered" }>,
	planMode: boolean,
) {
	const fields: Partial<StatusFields> = {
		token_usage: usage,
		message_id: messageId,
		plan_mode: planMode,
		...(end?.kind === "truncated" ? { truncated: end.reason } : {}),
	};
	if (usage === null) return statusChanged(fields);
	const tokens = inputTokens(usage);
	return statusChanged({
		...fields,
		context_usage: tokens / model.maxContextSize,
		context_tokens: tokens,
		max_context_tokens: model.maxContextSize,
	});
}
