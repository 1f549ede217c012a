import type { TurnOutcome } from "../../api/values/event.ts";
import { truncationText } from "../../api/values/truncation.ts";

export function turnFailureText(outcome: TurnOutcome): string | null {
	switch (outcome.status) {
		case "finished":
			return outcome.formed?.kind === "unformed"
				? `The answer does not match the output schema: ${outcome.formed.reason}`
				: null;
		case "cancelled":
			return "The turn was interrupted.";
		case "truncated":
			return truncationText(outcome.reason);
		case "max-steps":
			return `The turn reached its limit of ${outcome.steps} steps.`;
		case "failed":
			return outcome.error.code === "model-not-set" ? missingModel(outcome.error.data) : outcome.error.message;
	}
}

function missingModel(data: unknown): string {
	if (typeof data === "object" && data !== null && "model" in data) {
		return `No model ${JSON.stringify(data.model)} in config.toml. Name one of its models, or leave the model out for default_model.`;
	}
	return "No model configured. Set ANTHROPIC_API_KEY, OPENAI_API_KEY or another provider key, or add a model to config.toml (see: agentwire docs providers).";
}
