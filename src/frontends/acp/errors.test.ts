import { describe, expect, it } from "vitest";
import { KernelError } from "../../base/errors.ts";
import { acpRules } from "./envelope.ts";
import { quoted, RequestCancelledError, toErrorObject, unknownSession, VersionError, withAdvice } from "./errors.ts";

const long = "x".repeat(100_000);

describe("the errors of the Agent Client Protocol", () => {
	it("say the same in `details`, which is what editors show", () => {
		const error = new KernelError("invalid-input", "No.");
		expect(toErrorObject(error)).toEqual({ code: -32602, message: "No.", data: { details: "No." } });
	});

	it("have a number of their own for what was withdrawn, and for a version that is not served", () => {
		expect(toErrorObject(new RequestCancelledError()).code).toBe(-32800);
		expect(toErrorObject(new VersionError(3, [2]))).toMatchObject({
			code: -32022,
			data: { requested: 3, supported: [2] },
		});
	});

	it("say nothing of what is not meant for clients", () => {
		expect(JSON.stringify(toErrorObject(new Error("secret")))).not.toContain("secret");
	});

	it("name the session that there is not, and what to do", () => {
		expect(toErrorObject(unknownSession("one"))).toMatchObject({
			code: -32002,
			message: 'There is no session "one". session/list lists the sessions; session/new creates one.',
		});
	});

	it("cut what a client has sent", () => {
		expect(quoted("a")).toBe('"a"');
		for (const text of [quoted(long), unknownSession(long).message, acpRules.unknownMethod(long).message])
			expect(text.length).toBeLessThan(400);
	});

	it("advise what to do without a model, and nothing else", () => {
		const missing = withAdvice(new KernelError("model-not-set", "LLM is not set"));
		expect(missing).toMatchObject({
			message: expect.stringMatching(/^LLM is not set\. Set ANTHROPIC_API_KEY.*agentwire setup.*--model scripted/),
		});
		const other = new KernelError("busy", "Busy.");
		expect(withAdvice(other)).toBe(other);
	});
});
