// One turn from input to outcome: the steps, the steers between them, and the decision to go on or stop.
// Begin and end of the turn are told by whoever runs it.
import { toParts, type UserInput } from "../events/content.ts";
import type { TurnError, TurnOutcome } from "../events/event.ts";
import type { Model } from "../models/model.ts";
import { missingCapability } from "./capabilities.ts";
import { userRow } from "./context.ts";
import type { TurnDependencies } from "./dependencies.ts";
import { runStep } from "./step.ts";

/**
 * Runs a turn. Failures of models and tools are outcomes; it rejects only when something could not be kept, and on
 * defects. After an abort it ends once the effects of its tools are over.
 */
export async function runTurn(
	input: UserInput,
	dependencies: TurnDependencies,
	signal: AbortSignal,
): Promise<TurnOutcome> {
	const { model, context } = dependencies;
	if (model === null) {
		const data = dependencies.unsetModelAlias === null ? null : { model: dependencies.unsetModelAlias };
		return failed({ code: "model-not-set", message: "LLM is not set", data });
	}
	const error = missingCapability(model, toParts(input));
	if (error !== null) return failed(error);
	await context.append([context.checkpointRow(), userRow(input)]);
	await dependencies.commit();
	return await runSteps(model, dependencies, signal);
}

/** Goes on with a turn that had ended its steps when input was added after all. */
export async function continueTurn(dependencies: TurnDependencies, signal: AbortSignal): Promise<TurnOutcome> {
	const { model } = dependencies;
	if (model === null) return { status: "finished" };
	const { error } = await consumeSteers(model, dependencies);
	return error === null ? await runSteps(model, dependencies, signal) : failed(error);
}

async function runSteps(model: Model, dependencies: TurnDependencies, signal: AbortSignal): Promise<TurnOutcome> {
	const { maxSteps } = dependencies.limits;
	for (let n = 1; n <= maxSteps; n += 1) {
		if (signal.aborted) return { status: "cancelled" };
		await dependencies.emit({ type: "step.started", n });
		await beginStep(dependencies);
		const step = signal.aborted ? ({ kind: "cancelled" } as const) : await runStep(n, model, dependencies, signal);
		if (step.kind === "cancelled") {
			await dependencies.emit({ type: "step.interrupted", reason: "cancelled" });
			return { status: "cancelled" };
		}
		if (step.kind === "failed") {
			await dependencies.emit({ type: "step.interrupted", reason: "error" });
			dependencies.stepFailed(step.error);
			return failed(step.error);
		}
		const steered = await consumeSteers(model, dependencies);
		if (steered.error !== null) return failed(steered.error);
		if (!step.wantsMore && !steered.any && dependencies.steers.isEmpty()) return { status: "finished" };
	}
	return { status: "max-steps", steps: maxSteps };
}

/** The checkpoint of a step, and the reminders due at it as one user message. */
async function beginStep({ context, reminders }: TurnDependencies): Promise<void> {
	const due = await reminders();
	const texts = due.map((text) => `<system-reminder>\n${text}\n</system-reminder>`);
	const rows = [context.checkpointRow()];
	await context.append(texts.length === 0 ? rows : [...rows, userRow(texts.join("\n"))]);
}

/** Puts waiting steers into the context: any of them keeps the turn going, one the model cannot take fails it. */
async function consumeSteers(
	model: Model,
	dependencies: TurnDependencies,
): Promise<{ readonly any: boolean; readonly error: TurnError | null }> {
	const inputs = dependencies.steers.take();
	for (const input of inputs) {
		const error = missingCapability(model, toParts(input));
		if (error !== null) return { any: true, error };
		await dependencies.context.append([userRow(input)]);
		await dependencies.emit({ type: "steer.consumed", input });
	}
	return { any: inputs.length > 0, error: null };
}

function failed(error: TurnError): TurnOutcome {
	return { status: "failed", error };
}
