import { describe, expect, it } from "vitest";
import type { TurnOutcome } from "../../api/values/event.ts";
import { stopReasonOf } from "./stop-reason.ts";

const failed = (error: object): TurnOutcome => ({
	status: "failed",
	error: { code: "provider-failed", message: "No.", data: null, ...error },
});
const budget = (name: string) => failed({ code: "budget-exhausted", data: { budget: name } });

describe("the stop reason of a turn", () => {
	it.each<[string, TurnOutcome, string | null]>([
		["finished", { status: "finished" }, "end_turn"],
		["stopped by a person's refusal", { status: "finished", stoppedBy: "refusal" }, "end_turn"],
		["cancelled", { status: "cancelled" }, "cancelled"],
		["at its last allowed step", { status: "max-steps", limit: "steps", steps: 3 }, "max_turn_requests"],
		["out of tokens", budget("tokens"), "max_tokens"],
		["out of calls", budget("tool-calls"), "max_turn_requests"],
		["refused by the provider's content filter", failed({ isRefused: true }), "refusal"],
		["failed", failed({}), null],
	])("of one that is %s", (_, outcome, reason) => {
		expect(stopReasonOf(outcome)).toBe(reason);
	});
});
