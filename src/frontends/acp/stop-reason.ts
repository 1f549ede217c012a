import type { TurnOutcome } from "../../api/values/event.ts";
import { isRecord } from "../../base/json.ts";
import type { StopReason } from "./wire.ts";

/** Null for a failed turn. Clients drop the prompt after `refusal`, so it is only for a refusal by the provider. */
export function stopReasonOf(outcome: TurnOutcome): StopReason | null {
	switch (outcome.status) {
		case "finished":
			return "end_turn";
		case "truncated":
			return "max_tokens";
		case "cancelled":
			return "cancelled";
		case "max-steps":
			return "max_turn_requests";
		case "failed": {
			const { code, data, isRefused } = outcome.error;
			if (isRefused === true) return "refusal";
			if (code !== "budget-exhausted") return null;
			return isRecord(data) && data["budget"] === "tokens" ? "max_tokens" : "max_turn_requests";
		}
	}
}
