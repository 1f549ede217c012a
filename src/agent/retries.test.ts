import { describe, expect, it } from "vitest";
import { createFailure, type ModelFailure } from "../models/model.ts";
import { retryableErrorType, retryDelay, toTurnError } from "./retries.ts";

const failure = (kind: ModelFailure["kind"], statusCode: number | null = null) => createFailure(kind, "m", statusCode);

describe("retries", () => {
	it.each([429, 500, 502, 503, 504])("tries %i again", (status) =>
		expect(retryableErrorType(failure("status", status))).toBe("APIStatusError"),
	);
	it.each([400, 401, 403, 404, 409, 422, 501, null])("does not try %s again", (status) =>
		expect(retryableErrorType(failure("status", status))).toBeNull(),
	);
	it("names the other failures", () => {
		expect(
			(["connection", "timeout", "empty", "provider", "login", "defect"] as const).map((kind) =>
				retryableErrorType(failure(kind)),
			),
		).toEqual(["APIConnectionError", "APITimeoutError", "APIEmptyResponseError", null, null, null]);
	});

	it("waits twice as long each time, with jitter, five seconds at most", () => {
		expect([1, 2, 3, 4, 5, 6, 60].map((failed) => retryDelay(failed, () => 0))).toEqual([
			0.3, 0.6, 1.2, 2.4, 4.8, 5, 5,
		]);
		expect(retryDelay(1, () => 0.5)).toBeCloseTo(0.55);
		expect(retryDelay(5, () => 0.99)).toBe(5);
	});

	it.each([
		[failure("connection"), true],
		[failure("timeout"), true],
		[failure("empty"), true],
		[failure("status", 503), true],
		[failure("status", 401), undefined],
		[failure("provider"), undefined],
		[failure("login", 401), undefined],
		[failure("defect"), undefined],
	])("says of %j whether the turn may succeed later", (fault, retryable) =>
		expect(toTurnError(fault).retryable).toBe(retryable),
	);

	it("gives the provider's own text, but nothing of a defect", () => {
		expect(toTurnError(failure("status", 400))).toEqual({ code: "provider-failed", message: "m", data: null });
		expect(toTurnError(failure("login", 401))).toEqual({ code: "login-expired", message: "m", data: null });
		expect(toTurnError(failure("defect"))).toEqual({
			code: "internal",
			message: expect.not.stringContaining("m\n"),
			data: null,
		});
	});
});
