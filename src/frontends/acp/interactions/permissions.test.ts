import { describe, expect, it } from "vitest";
import { readApproval, readChoice } from "./permissions.ts";

const selected = (optionId: string) => ({ outcome: { outcome: "selected", optionId } });

describe("the answer to a permission request", () => {
	it.each([
		["approve", "approve"],
		["approve_once", "approve"],
		["approve_for_session", "approve_for_session"],
		["approve_always", "approve_for_session"],
		["reject", "reject"],
		["reject_once", "reject"],
		["something", "reject"],
		["constructor", "reject"],
		["", "reject"],
	])("with the option %j decides to %s", (optionId, decision) => {
		expect(readApproval(selected(optionId))).toEqual({ kind: "approval", decision, feedback: "" });
	});

	it("that it was cancelled rejects", () => {
		expect(readApproval({ outcome: { outcome: "cancelled" } })).toMatchObject({ decision: "reject" });
		expect(readChoice({ outcome: { outcome: "cancelled" } })).toBe("");
	});

	it.each([null, {}, { outcome: "selected" }, { outcome: { outcome: "selected" } }, { outcome: { outcome: "maybe" } }])(
		"that cannot be read is none: %j",
		(result) => {
			expect(readApproval(result)).toBeNull();
			expect(readChoice(result)).toBeNull();
		},
	);
});
