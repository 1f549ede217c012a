// Steps, steering input between them, and whether to continue. The caller emits the turn's begin and end.

import { toParts, type UserInput } from "../../api/values/content.ts";
import type { ContextRow } from "../../api/values/conversation.ts";
import type { TurnError, TurnOutcome } from "../../api/values/event.ts";
import { modelAdvice } from "../../api/values/model-advice.ts";
import type { Model } from "../models/model.ts";
import { missingCapability } from "./capabilities.ts";
import { type CompactionOutcome, compact, isCompactionDue, shortenResults } from "./compaction.ts";
import { userRow } from "./context.ts";
import type { Mail, TurnDependencies } from "./dependencies.ts";
import { toHookFailure } from "./hook-failure.ts";
import { reminderText, systemText } from "./marked-text.ts";
import { createRepetitionGuard, type RepetitionGuard } from "./repetition.ts";
import { beyondStepBudget, errorClass, retryReason, toStepFailure } from "./retries.ts";
import { runStep, type StepOutcome } from "./step.ts";

/** Rejects only on bugs and storage failures. Input that `isStored` elsewhere is persisted with the first step. */
export async function runTurn(
	input: UserInput,
	dependencies: TurnDependencies,
	signal: AbortSignal,
	{ isStored = false }: { readonly isStored?: boolean } = {},
): Promise<TurnOutcome> {
	const { model, context } = dependencies;
	if (model === null) return failed(modelNotSet(dependencies.unsetModelAlias));
	const error = missingCapability(model, toParts(input));
	if (error !== null) return failed(error);
	const rows = [...checkpointRows(dependencies), userRow(input)];
	await (isStored ? context.appendWithNext(rows) : context.append(rows));
	await dependencies.commit();
	await dependencies.toolsReady();
	return await runSteps(model, dependencies, signal);
}

export function modelNotSet(alias: string | null): TurnError {
	const data = alias === null ? { advice: modelAdvice } : { model: alias };
	return { code: "model-not-set", message: "LLM is not set", data };
}

/** Continues a turn whose steps had ended when input was added. */
export async function continueTurn(dependencies: TurnDependencies, signal: AbortSignal): Promise<TurnOutcome> {
	const { model } = dependencies;
	if (model === null) return { status: "finished" };
	const { error } = await consumeSteers(model, dependencies);
	return error === null ? await runSteps(model, dependencies, signal) : failed(error);
}

async function runSteps(model: Model, dependencies: TurnDependencies, signal: AbortSignal): Promise<TurnOutcome> {
	const { maxSteps } = dependencies.limits;
	const repetition = createRepetitionGuard();
	let wasTruncated = false;
	for (let n = 1; n <= maxSteps; n += 1) {
		if (signal.aborted) return { status: "cancelled" };
		const spent = dependencies.budget.exhausted();
		if (spent !== null) return failed(spent);
		const step = await takeStep(n, model, dependencies, repetition, signal).catch(failedByHook);
		if (step.kind === "cancelled") {
			await dependencies.emit({ type: "step.interrupted", reason: "cancelled" });
			return { status: "cancelled" };
		}
		if (step.kind === "failed") {
			await dependencies.emit({ type: "step.interrupted", reason: "error" });
			dependencies.stepFailed(step.error, step.errorType);
			return failed(step.error);
		}
		const isRepeating = repetition.endAnswer();
		const mail = dependencies.mailbox?.take() ?? null;
		const isSentBack = mail !== null && !step.isRefused;
		if (isSentBack) {
			await rewind(mail, dependencies);
			repetition.reset();
		}
		const steered = await consumeSteers(model, dependencies);
		if (steered.error !== null) return failed(steered.error);
		// After an answer that ends within a call, the model is told and gets another try.
		const isStuck = wasTruncated && step.truncated !== null;
		wasTruncated = step.truncated !== null;
		const goesOn = isSentBack || (step.wantsMore && !isRepeating && !isStuck);
		if (goesOn || steered.any || !dependencies.steers.isEmpty()) continue;
		if (step.isRefused) return { status: "finished", stoppedBy: "refusal" };
		if (step.truncated !== null) return { status: "truncated", reason: step.truncated };
		return isRepeating ? { status: "finished", stoppedBy: "repetition" } : { status: "finished" };
	}
	return { status: "max-steps", limit: "steps", steps: maxSteps };
}

function failedByHook(thrown: unknown): Extract<StepOutcome, { kind: "failed" }> {
	return { kind: "failed", error: toHookFailure(thrown), errorType: "HookFailed" };
}

/** Maximum number of times to shorten tool results in one step. */
const shortenings = 3;

/** If the request exceeds the window, compacts and retries; if still too long, shortens the tool results. */
async function takeStep(
	n: number,
	model: Model,
	dependencies: TurnDependencies,
	repetition: RepetitionGuard,
	signal: AbortSignal,
): Promise<Exclude<StepOutcome, { kind: "overflow" }>> {
	let isStarted = false;
	const start = (): Promise<void> | undefined => {
		if (isStarted) return undefined;
		isStarted = true;
		return dependencies.emit({ type: "step.started", n });
	};
	const take = async (makeRoom: MakeRoom | null): Promise<StepOutcome> => {
		const begun = await beginStep(start, makeRoom, dependencies, signal);
		return begun.kind === "ready" ? await runStep(n, model, dependencies, repetition, signal) : begun;
	};
	const compactAll = () => compact(model, "auto", "", dependencies, signal);
	let step = await take(isCompactionDue(model, dependencies) ? compactAll : null);
	for (let count = 0; step.kind === "overflow"; count += 1) {
		const { failure } = step;
		const makeRoom =
			count === 0 ? compactAll : count <= shortenings ? shortenResults(model, dependencies, signal) : null;
		if (makeRoom === null) return toStepFailure(failure);
		// The partial answer is void; attempts restart at 1.
		await dependencies.emit({
			type: "step.retrying",
			n,
			next_attempt: 1,
			max_attempts: dependencies.limits.maxAttempts,
			wait_s: 0,
			error_type: errorClass(failure),
			status_code: failure.statusCode,
			reason: retryReason(failure),
		});
		step = await take(makeRoom);
	}
	return step;
}

type MakeRoom = () => Promise<CompactionOutcome>;

type BegunStep = { readonly kind: "ready" } | Extract<StepOutcome, { kind: "failed" | "cancelled" }>;

/** Compacts if needed, then adds checkpoint, notifications and reminders. `start` is stored with these rows. */
async function beginStep(
	start: () => Promise<void> | undefined,
	makeRoom: MakeRoom | null,
	dependencies: TurnDependencies,
	signal: AbortSignal,
): Promise<BegunStep> {
	const { context } = dependencies;
	if (!signal.aborted && makeRoom !== null) {
		await start();
		const outcome = await makeRoom();
		if (outcome.kind !== "done") return outcome;
		const spent = dependencies.budget.exhausted();
		if (spent !== null) return beyondStepBudget(spent);
	}
	const news = await dependencies.notices();
	const due = await dependencies.reminders();
	const texts = due.map(reminderText);
	const rows = [...checkpointRows(dependencies), ...news.map(({ text }) => userRow(text))];
	await Promise.all([start(), context.append(texts.length === 0 ? rows : [...rows, userRow(texts.join("\n"))])]);
	for (const notice of news) await notice.retained();
	return signal.aborted ? { kind: "cancelled" } : { kind: "ready" };
}

/** A checkpoint; agents that can rewind see its number. */
function checkpointRows({ context, mailbox }: TurnDependencies): ContextRow[] {
	const row = context.checkpointRow();
	return mailbox === null ? [row] : [row, userRow(systemText(`CHECKPOINT ${row.id}`))];
}

async function rewind({ checkpoint, message }: Mail, dependencies: TurnDependencies): Promise<void> {
	await dependencies.context.revert(checkpoint);
	const text = systemText(
		`You have gone back to this point from later on. What you did since is undone in this conversation, but not in files or anywhere else. The message you sent yourself:\n\n${message}\n\nAct on it; the person has seen nothing of it.`,
	);
	await dependencies.context.append([...checkpointRows(dependencies), userRow(text)]);
	await dependencies.commit();
}

/** Adds pending steering input to the context. Any input continues the turn; unsupported content fails it. */
async function consumeSteers(
	model: Model,
	dependencies: TurnDependencies,
): Promise<{ readonly any: boolean; readonly error: TurnError | null }> {
	const inputs = dependencies.steers.take();
	for (const input of inputs) {
		const error = missingCapability(model, toParts(input));
		if (error !== null) return { any: true, error };
		const retained = dependencies.context.append([userRow(input)]);
		await Promise.all([retained, dependencies.emit({ type: "steer.consumed", input })]);
	}
	return { any: inputs.length > 0, error: null };
}

function failed(error: TurnError): TurnOutcome {
	return { status: "failed", error };
}
