// Frozen: kernel errors as numbers and texts of each dialect, and the exact texts of wire-protocol §1.7 and §7.1.
// When this goes red, clients that compare numbers or texts break: change it only when the protocol says so.
import { expect, it } from "vitest";
import { KernelError, type KernelErrorCode, kernelErrorCodes } from "../../src/base/errors.ts";
import { envelopeRules as kimi } from "../../src/frontends/kimi/envelope.ts";
import { envelopeRules as legacy } from "../../src/frontends/legacy/envelope.ts";

const table: readonly (readonly [KernelErrorCode, number, string, number, string])[] = [
	["busy", -32000, "T", -32000, "Run already in progress"],
	["no-turn", -32000, "T", -32099, "Run failed: T"],
	["unsupported", -32000, "T", -32099, "Run failed: T"],
	["invalid-input", -32602, "T", -32602, "`input` (or `prompt`) must be a string"],
	["model-not-set", -32001, "T", -32001, "LLM is not configured"],
	["capability-missing", -32002, "T", -32003, "LLM not supported: T"],
	["provider-failed", -32003, "T", -32002, "LLM provider error: T"],
	["login-expired", -32004, "T", -32002, "LLM provider error: T"],
	["budget-exhausted", -32003, "T", -32099, "Run failed: T"],
	["hook-failed", -32003, "T", -32099, "Run failed: T"],
	["session-not-found", -32603, "T", -32099, "Run failed: T"],
	["storage-failed", -32603, "T", -32099, "Run failed: T"],
	["overloaded", -32000, "T", -32000, "T"],
	["closed", -32000, "T", -32099, "Run failed: T"],
	["internal", -32603, "T", -32099, "Run failed: T"],
];

it("pins the set of kernel errors", () => {
	expect(kernelErrorCodes).toEqual(table.map(([code]) => code));
});

it.each(table)("pins %s", (code, kimiNumber, kimiText, legacyNumber, legacyText) => {
	const error = new KernelError(code, "T", { data: { d: 1 } });
	// Which model was asked for is for the log alone.
	const data = code === "model-not-set" ? null : { d: 1 };
	expect(kimi.toErrorObject(error)).toEqual({ code: kimiNumber, message: kimiText, data });
	expect(legacy.toErrorObject(error)).toEqual({ code: legacyNumber, message: legacyText });
});

it("pins the errors of Kimi Wire's envelope", () => {
	expect([
		kimi.parseError,
		kimi.invalidRequest,
		kimi.invalidResponse,
		kimi.unknownMethod("X"),
		kimi.invalidParams("X", { kind: "missing" }),
	]).toEqual([
		{ code: -32700, message: "Invalid JSON format" },
		{ code: -32600, message: "Invalid request" },
		{ code: -32600, message: "Invalid response" },
		{ code: -32601, message: "Unexpected method received: X" },
		{ code: -32602, message: "Invalid parameters for method `X`" },
	]);
});

it("pins the errors of the legacy envelope", () => {
	expect([legacy.parseError, legacy.invalidRequest, legacy.invalidResponse]).toEqual([null, null, null]);
	expect([legacy.unknownMethod("X"), legacy.invalidParams("run", { kind: "missing" })]).toEqual([
		{ code: -32601, message: "Unknown method: X" },
		{ code: -32602, message: "`input` (or `prompt`) must be a string" },
	]);
});

it.each([
	["kimi", kimi],
	["legacy", legacy],
])("pins that %s answers too many requests with -32000", (_name, rules) => {
	expect(rules.tooManyRequests(256).code).toBe(-32000);
});
