import { describe, expect, it } from "vitest";
import { KernelError } from "../../base/errors.ts";
import { errorNumbers, NamedError, toErrorObject, toNamedError } from "./errors.ts";

describe("errors of Meerkat RPC", () => {
	it("have the numbers of each protocol version under one name", () => {
		const thrown = toNamedError(new KernelError("busy", "A turn is running."), "S");
		const data = { session_id: "S", code: "SESSION_BUSY" };
		expect(toErrorObject("seed", thrown)).toEqual({ code: -32001, message: "Session S is busy", data });
		expect(toErrorObject("contract", thrown)).toEqual({ code: -32002, message: "Session S is busy", data });
	});

	it("name a budget as the events do", () => {
		const used = { scope: "turn", used: 3, limit: 2 };
		const thrown = new KernelError("budget-exhausted", "No more.", { data: { budget: "tool-calls", ...used } });
		expect(toErrorObject("seed", thrown).data).toEqual({ budget: "tool_calls", ...used, code: "BUDGET_EXHAUSTED" });
	});

	it("preserve their own name and session", () => {
		const named = new NamedError("HOOK_DENIED", "Not so.", { session_id: "S" });
		expect(toErrorObject("contract", toNamedError(named, "other"))).toEqual({
			code: errorNumbers.HOOK_DENIED.contract,
			message: "Not so.",
			data: { session_id: "S", code: "HOOK_DENIED" },
		});
	});

	it("are internal when they are unexpected", () => {
		expect(toErrorObject("seed", new Error("x"))).toMatchObject({ code: -32603, data: { code: "INTERNAL_ERROR" } });
	});
});
