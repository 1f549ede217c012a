import type { AgentEvent, TurnOutcome } from "../../api/values/event.ts";
import { modelAdvice } from "../../api/values/model-advice.ts";
import { truncationText } from "../../api/values/truncation.ts";

export interface Printer {
	take(event: AgentEvent): void;
	/** Reports that the last turn did not finish, after its last event. */
	fail(failure: PrintFailure): void;
}

export type Write = (text: string) => void;

export interface PrintFailure {
	/** A sentence for people. Scripts match the beginning of some sentences known from `kimi`. */
	readonly message: string;
	/** A code for programs: a kernel error code, or `cancelled`, `max-steps`, `truncated`, `background-timeout`. */
	readonly code: string;
	readonly status: Exclude<TurnOutcome["status"], "finished">;
	readonly exitCode: number;
}

/** EX_TEMPFAIL: the same command may succeed later. */
const tryAgainLater = 75;

const limitReasons: Readonly<Record<Extract<TurnOutcome, { status: "max-steps" }>["limit"], string>> = {
	steps: "--max-steps-per-turn sets the limit.",
	flow: "The flow reached its node limit; make sure that its decisions lead to its end.",
	loop: "The prompt reached its repetition limit; --max-ralph-iterations sets it.",
};

/** Why a turn did not complete its task; null if it did. `models` are the configured models. */
export function toFailure(outcome: TurnOutcome, models: readonly string[] = []): PrintFailure | null {
	switch (outcome.status) {
		case "finished":
			return null;
		case "cancelled":
			return { message: "Interrupted by user", code: "cancelled", status: "cancelled", exitCode: 1 };
		case "truncated":
			return { message: truncationText(outcome.reason), code: "truncated", status: "truncated", exitCode: 1 };
		case "max-steps":
			return {
				message: `Max number of steps reached: ${outcome.steps}. ${limitReasons[outcome.limit]}`,
				code: "max-steps",
				status: "max-steps",
				exitCode: 1,
			};
		case "failed": {
			const { code, message, data, retryable = false } = outcome.error;
			const { status } = outcome;
			if (code === "model-not-set")
				return { message: `LLM not set: ${missingModel(data, models)}`, code, status, exitCode: 1 };
			return { message, code, status, exitCode: retryable ? tryAgainLater : 1 };
		}
	}
}

function missingModel(data: unknown, models: readonly string[]): string {
	if (typeof data !== "object" || data === null || !("model" in data)) return `no model is configured. ${modelAdvice}`;
	const { model } = data;
	const named = `the model ${JSON.stringify(model)}`;
	if (models.some((each) => each === model))
		return `${named} has no name, or its provider no base_url, in the settings`;
	const known = models.length === 0 ? `and no other. ${modelAdvice}` : `but these: ${models.join(", ")}`;
	return `the settings do not have ${named}, ${known}`;
}
