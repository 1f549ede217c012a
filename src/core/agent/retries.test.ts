import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import { createSteppingClock } from "../../../test/support/host/stepping-clock.ts";
import { createFailure, type ModelFailure } from "../models/model.ts";
import {
	type ComingRetry,
	emptyAnswer,
	errorClass,
	retryableErrorType,
	retryDelay,
	retryReason,
	toTurnError,
	withRetries,
} from "./retries.ts";

const failure = (kind: ModelFailure["kind"], statusCode: number | null = null) => createFailure(kind, "m", statusCode);

describe("retries", () => {
	it.each([408, 409, 429, 500, 502, 503, 504, 507, 520, 524, 529, 530])("retries %i", (status) =>
		expect(retryableErrorType(failure("status", status))).toBe("APIStatusError"),
	);
	it.each([400, 401, 402, 403, 404, 422, 451, 501, 505, null])("does not retry %s", (status) =>
		expect(retryableErrorType(failure("status", status))).toBeNull(),
	);
	it("names the failures that are not retried", () => {
		expect(
			(["connection", "timeout", "empty", "overflow", "provider", "login", "defect"] as const).map((kind) =>
				retryableErrorType(failure(kind)),
			),
		).toEqual(["APIConnectionError", "APITimeoutError", "APIEmptyResponseError", null, null, null, null]);
	});

	it("gives every failure an error class, retried or not", () => {
		const kinds = ["connection", "timeout", "empty", "status", "overflow", "login", "provider", "defect"] as const;
		expect(kinds.map((kind) => errorClass(failure(kind)))).toEqual([
			"APIConnectionError",
			"APITimeoutError",
			"APIEmptyResponseError",
			"APIStatusError",
			"APIStatusError",
			"APIStatusError",
			"ChatProviderError",
			"InternalError",
		]);
	});

	it("distinguishes failures with an HTTP status from others", () => {
		expect(errorClass(failure("provider", 429))).toBe("APIStatusError");
		expect(retryableErrorType(failure("provider", 429))).toBeNull();
	});

	it("doubles the wait each time, with jitter, up to a minute", () => {
		const waits = [1, 2, 3, 4, 5, 6, 7, 8, 60].map((failed) => retryDelay(failed, () => 0));
		expect(waits).toEqual([0.5, 1, 2, 4, 8, 16, 32, 60, 60]);
		expect(retryDelay(1, () => 0.5)).toBeCloseTo(0.75);
		expect(retryDelay(8, () => 0.99)).toBe(60);
	});

	it("waits for more than a minute over eight attempts, the default", async () => {
		const clock = createSteppingClock(0);
		const busy = { kind: "failed", failure: createFailure("status", "overloaded", 529) } as const;
		const reasons: string[] = [];
		const settings = { limits: { maxAttempts: 8 }, clock, random: () => 0 };
		const signal = new AbortController().signal;
		const announce = async ({ reason }: ComingRetry) => void reasons.push(reason);
		expect(await withRetries(async () => busy, settings, announce, signal)).toEqual(busy);
		expect(clock.waited).toBeGreaterThanOrEqual(60_000);
		expect(reasons).toEqual(Array.from({ length: 7 }, () => "HTTP 529: overloaded"));
	});

	it("asks three times at most for an answer that is empty", async () => {
		const clock = createSteppingClock(0);
		const empty = { kind: "failed", failure: emptyAnswer } as const;
		let count = 0;
		const attempt = async () => {
			count += 1;
			return empty;
		};
		const settings = { limits: { maxAttempts: 8 }, clock, random: () => 0 };
		await withRetries(attempt, settings, async () => {}, new AbortController().signal);
		expect(count).toBe(3);
	});

	it("retries a transient failure of the provider", () => {
		const fault = { ...failure("provider"), isTransient: true } as const;
		expect([retryableErrorType(fault), toTurnError(fault).retryable]).toEqual(["ChatProviderError", true]);
	});

	it.each([
		[failure("status", 503), "HTTP 503: m"],
		[createFailure("status", "HTTP 503 Service Unavailable", 503), "HTTP 503 Service Unavailable"],
		[createFailure("connection", "reset\nby peer"), "reset by peer"],
	])("gives %j as a reason on one line", (fault, reason) => expect(retryReason(fault)).toBe(reason));

	it.each([
		[failure("connection"), true],
		[failure("timeout"), true],
		[failure("empty"), true],
		[failure("status", 503), true],
		[failure("status", 401), undefined],
		[failure("provider"), undefined],
		[failure("login", 401), undefined],
		[failure("defect"), undefined],
	])("decides for %j whether the turn may succeed later", (fault, retryable) =>
		expect(toTurnError(fault).retryable).toBe(retryable),
	);

	it("shows the text of the provider, but nothing of an internal error", () => {
		expect(toTurnError(failure("status", 400))).toEqual({ code: "provider-failed", message: "m", data: null });
		expect(toTurnError({ ...failure("provider", null), isRefused: true })).toMatchObject({ isRefused: true });
		expect(toTurnError(failure("login", 401))).toEqual({ code: "login-expired", message: "m", data: null });
		expect(toTurnError(failure("defect"))).toEqual({
			code: "internal",
			message: expect.not.stringContaining("m\n"),
			data: null,
		});
	});
});

describe("a provider that requests a wait", () => {
	const started = Date.parse("2026-11-20T21:00:00Z");
	const busy = (retryAfter: number | null) =>
		({ kind: "failed", failure: createFailure("status", "Too busy", 429, retryAfter) }) as const;
	const answered = { kind: "answered" } as const;

	async function tryAll(outcomes: readonly (ReturnType<typeof busy> | typeof answered)[], maxAttempts = 3) {
		const clock = createFakeClock(started);
		const waits: number[] = [];
		let count = 0;
		const trying = withRetries(
			async () => outcomes[count++] ?? answered,
			{ limits: { maxAttempts }, clock, random: () => 0 },
			async ({ wait }) => {
				waits.push(wait);
				setImmediate(() => clock.advance(wait * 1000));
			},
			new AbortController().signal,
		);
		return { outcome: await trying, waits, attempts: count };
	}

	it.each([
		[1500, 1.5],
		[12_000, 12],
		[60_000, 60],
		[null, 0.5],
	])("of %s ms is waited for", async (asked, wait) => {
		expect(await tryAll([busy(asked), answered])).toEqual({ outcome: answered, waits: [wait], attempts: 2 });
	});

	it.each([
		[60_001, "61 s", "2026-11-20T21:01:00Z"],
		[119_000, "119 s", "2026-11-20T21:01:59Z"],
		[600_000, "10 min", "2026-11-20T21:10:00Z"],
		[86_400_000, "1440 min", "2026-11-21T21:00:00Z"],
	])("of %i ms is not waited for: the message says when to retry", async (asked, duration, time) => {
		const { outcome, waits, attempts } = await tryAll([busy(asked), answered]);
		expect([waits, attempts]).toEqual([[], 1]);
		expect(outcome).toMatchObject({
			failure: {
				message: `Too busy. The provider asks to wait ${duration}: try again after ${time}.`,
				statusCode: 429,
			},
		});
	});

	it("without end is reported with the latest possible date", async () => {
		const { outcome } = await tryAll([busy(Number.MAX_VALUE)]);
		expect(outcome).toMatchObject({ failure: { message: expect.stringContaining("+275760-09-13T00:00:00Z") } });
	});

	it("is not waited for after the last attempt", async () => {
		const { outcome, waits, attempts } = await tryAll([busy(1000), busy(2000), busy(3000)]);
		expect([outcome, waits, attempts]).toEqual([busy(3000), [1, 2], 3]);
	});

	it("is not waited for when no retry can succeed", async () => {
		const failure = { kind: "failed", failure: createFailure("status", "no", 401, 1000) } as const;
		const clock = createFakeClock();
		const settings = { limits: { maxAttempts: 3 }, clock, random: () => 0 };
		const signal = new AbortController().signal;
		expect(
			await withRetries(
				async () => failure,
				settings,
				async () => {},
				signal,
			),
		).toEqual(failure);
	});
});
