// Why runs fail, as the contract says it.
import { expect, it } from "vitest";
import { toFailure, toOutcome } from "./failures.ts";

const error = (code: Parameters<typeof toFailure>[0]["code"], data: unknown = null) => ({ code, message: "m", data });

it("names the provider's failure by whether there were several attempts", () => {
	expect(toFailure(error("provider-failed"), false)).toEqual({ errorClass: "llm", cause: "llm_failure" });
	expect(toFailure(error("provider-failed"), true).cause).toBe("retry_exhausted");
});

it("names a model that cannot be called, a budget of time and any other, and what went wrong here", () => {
	expect(toFailure(error("model-not-set"), false).cause).toBe("runtime_apply_failure");
	expect(toFailure(error("budget-exhausted", { budget: "time" }), false).cause).toBe("time_budget_exceeded");
	expect(toFailure(error("budget-exhausted", { budget: "tokens" }), true).cause).toBe("budget_exhausted");
	expect(toFailure(error("storage-failed"), false)).toEqual({ errorClass: "internal", cause: "fatal_failure" });
});

it("gives the outcome its own word for budgets alone", () => {
	expect(toOutcome("time_budget_exceeded")).toBe("time_budget_exceeded");
	expect(toOutcome("budget_exhausted")).toBe("budget_exhausted");
	expect(toOutcome("retry_exhausted")).toBe("failed");
});
