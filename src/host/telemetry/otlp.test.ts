import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import { startTraceCollector } from "../../../test/support/host/trace-collector.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { batchDelay, batchSize, OtlpExporter, queueLimit, readRetryAfter } from "./otlp.ts";
import type { Span } from "./span.ts";

const span = (n: number, more: Partial<Span> = {}): Span => ({
	traceId: String(n).padStart(32, "0"),
	spanId: String(n).padStart(16, "0"),
	parentId: null,
	isSampled: true,
	operation: "tool",
	name: `execute_tool ${n}`,
	kind: "internal",
	startedAt: 1_763_000_000_000,
	endedAt: 1_763_000_000_250.5,
	waited: 0,
	attributes: {},
	moments: [],
	error: null,
	...more,
});

const requestTime = 1e9;

type Answer = Parameters<typeof startTraceCollector>[0];

async function createSubject(answer?: Answer, ownClock?: Clock, fetch = globalThis.fetch) {
	const clock = createFakeClock();
	const collector = await startTraceCollector(answer);
	const warnings: unknown[] = [];
	const note = (...entry: unknown[]) => void warnings.push(entry);
	const exporter = new OtlpExporter({
		url: `${collector.url}/v1/traces`,
		headers: { "api-key": "k" },
		// Longer than what tests advance the clock by: they do not know when an answer has come.
		timeout: requestTime,
		resource: { "service.name": "agentwire" },
		scope: { name: "agentwire", version: "1" },
		fetch,
		random: () => 0.5,
		clock: ownClock ?? clock,
		log: { debug() {}, info() {}, warn: note, error: note },
	});
	const arrived = (count: number) => expect.poll(() => collector.requests.length).toBe(count);
	return { collector, exporter, clock, warnings, arrived };
}

describe("exporter of spans", () => {
	it("sends the JSON form of OTLP", async () => {
		const { collector, exporter } = await createSubject();
		exporter.add(
			span(1, {
				parentId: "b".repeat(16),
				kind: "client",
				attributes: { text: "é", whole: 3, part: 0.5, yes: true, list: ["a"] },
				moments: [{ name: "agentwire.retry", at: 1_763_000_000_001, attributes: { n: 1 } }],
				error: "503",
			}),
		);
		await exporter.end(1000);
		const [request] = collector.requests;
		expect(request).toMatchObject({
			path: "/v1/traces",
			headers: { "content-type": "application/json", "api-key": "k" },
		});
		expect(JSON.parse(request?.body ?? "")).toEqual({
			resourceSpans: [
				{
					resource: { attributes: [{ key: "service.name", value: { stringValue: "agentwire" } }] },
					scopeSpans: [
						{
							scope: { name: "agentwire", version: "1" },
							spans: [
								{
									traceId: `${"0".repeat(31)}1`,
									spanId: `${"0".repeat(15)}1`,
									parentSpanId: "b".repeat(16),
									name: "execute_tool 1",
									kind: 3,
									startTimeUnixNano: "1763000000000000000",
									endTimeUnixNano: "1763000000250500000",
									attributes: [
										{ key: "text", value: { stringValue: "é" } },
										{ key: "whole", value: { intValue: "3" } },
										{ key: "part", value: { doubleValue: 0.5 } },
										{ key: "yes", value: { boolValue: true } },
										{ key: "list", value: { arrayValue: { values: [{ stringValue: "a" }] } } },
									],
									events: [
										{
											name: "agentwire.retry",
											timeUnixNano: "1763000000001000000",
											attributes: [{ key: "n", value: { intValue: "1" } }],
										},
									],
									status: { code: 2, message: "503" },
								},
							],
						},
					],
				},
			],
		});
		expect(collector.spans()).toHaveLength(1);
	});

	it("sends a full batch at once, and the rest after a while", async () => {
		const { collector, exporter, clock, arrived } = await createSubject();
		for (let n = 0; n <= batchSize; n += 1) exporter.add(span(n));
		await arrived(1);
		expect(collector.spans()).toHaveLength(batchSize);
		// The timer of the rest begins once the first batch is answered.
		await expect
			.poll(() => {
				clock.advance(batchDelay);
				return collector.requests.length;
			})
			.toBe(2);
		expect(collector.spans()).toHaveLength(batchSize + 1);
		await exporter.end(1000);
		expect(collector.requests).toHaveLength(2);
	});

	it.each([429, 502, 503, 504])("sends a batch again after status %d, when the collector says", async (status) => {
		const { collector, exporter, clock, arrived } = await createSubject((count) =>
			count === 1 ? { status, headers: { "retry-after": "7" } } : { status: 200 },
		);
		exporter.add(span(1));
		clock.advance(batchDelay);
		await arrived(1);
		const refusedAt = clock.now();
		await expect
			.poll(() => {
				if (collector.requests.length === 1) clock.advance(1000);
				return collector.requests.length;
			})
			.toBe(2);
		expect(clock.now() - refusedAt).toBeGreaterThanOrEqual(7000);
		expect(collector.requests[1]?.body).toBe(collector.requests[0]?.body);
		await exporter.end(1000);
		expect(exporter.dropped).toBe(0);
	});

	it("does not send again what is refused, and counts it", async () => {
		const { collector, exporter, warnings } = await createSubject(() => ({ status: 400 }));
		exporter.add(span(1));
		await exporter.end(1000);
		expect(collector.requests).toHaveLength(1);
		expect(exporter.dropped).toBe(1);
		expect(warnings).toHaveLength(1);
		expect(JSON.stringify(warnings)).toContain("400");
		expect(JSON.stringify(warnings)).not.toContain("api-key");
	});

	it("counts the spans that a collector did not take", async () => {
		const body = JSON.stringify({ partialSuccess: { rejectedSpans: "2", errorMessage: "too old" } });
		const { exporter, warnings } = await createSubject(() => ({ status: 200, body }));
		for (const n of [1, 2, 3]) exporter.add(span(n));
		await exporter.end(1000);
		expect(exporter.dropped).toBe(2);
		expect(JSON.stringify(warnings)).toContain("too old");
	});

	it("has a bounded queue", async () => {
		const { exporter, arrived } = await createSubject(() => null, systemClock);
		// The first batch is on its way, without an answer.
		for (let n = 0; n < batchSize; n += 1) exporter.add(span(n));
		await arrived(1);
		for (let n = 0; n < queueLimit + 10; n += 1) exporter.add(span(n));
		expect(exporter.dropped).toBe(10);
		await exporter.end(1);
		expect(exporter.dropped).toBe(batchSize + queueLimit + 10);
	});

	it("gives up a collector that does not answer once the time at the end is over", async () => {
		const { exporter } = await createSubject(() => null, systemClock);
		exporter.add(span(1));
		await exporter.end(20);
		expect(exporter.dropped).toBe(1);
		exporter.add(span(2));
		await exporter.end(20);
	});

	it("gives up a request that is not answered in its time, and sends it again", async () => {
		const { collector, exporter, clock, arrived } = await createSubject((count) =>
			count === 1 ? null : { status: 200 },
		);
		exporter.add(span(1));
		clock.advance(batchDelay);
		await arrived(1);
		await expect
			.poll(() => {
				if (collector.requests.length === 1) clock.advance(requestTime);
				return collector.requests.length;
			})
			.toBe(2);
		await exporter.end(1000);
		expect(exporter.dropped).toBe(0);
	});

	it("says why a collector cannot be reached", async () => {
		const refused = new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED 127.0.0.1:7") });
		const { exporter, warnings } = await createSubject(undefined, undefined, () => Promise.reject(refused));
		exporter.add(span(1));
		await exporter.end(20);
		expect(warnings).toMatchObject([["Spans could not be sent.", { reason: expect.stringContaining("ECONNREFUSED") }]]);
	});

	it("does not wait to try again at the end", async () => {
		const { exporter, collector } = await createSubject(() => ({ status: 503, headers: { "retry-after": "30" } }));
		exporter.add(span(1));
		await exporter.end(60_000);
		expect(collector.requests).toHaveLength(1);
		expect(exporter.dropped).toBe(1);
	});
});

describe("Retry-After", () => {
	it("is seconds or a date", () => {
		const now = Date.parse("2026-11-25T10:00:00Z");
		expect(readRetryAfter("3", now)).toBe(3000);
		expect(readRetryAfter("Wed, 25 Nov 2026 10:00:05 GMT", now)).toBe(5000);
		expect(readRetryAfter("Wed, 25 Nov 2026 09:00:00 GMT", now)).toBe(0);
		expect(readRetryAfter("soon", now)).toBe(null);
		expect(readRetryAfter(null, now)).toBe(null);
	});
});
