import { describe, expect, it } from "vitest";
import { Metrics } from "./metrics.ts";
import { Counter, Histogram, seriesLimit, toOpenMetrics } from "./open-metrics.ts";
import type { Span } from "./span.ts";

const plain: Span = {
	traceId: "a".repeat(32),
	spanId: "b".repeat(16),
	parentId: null,
	isSampled: true,
	operation: "tool",
	name: "execute_tool Shell",
	kind: "internal",
	startedAt: 1000,
	endedAt: 3000,
	waited: 0,
	attributes: { "gen_ai.tool.name": "Shell" },
	moments: [],
	error: null,
};

function createMetrics(dropped: number | null = null) {
	return new Metrics({ runningTurns: () => 3, droppedSpans: () => dropped });
}

describe("metrics", () => {
	it("count turns, model calls, tools and tokens", () => {
		const metrics = createMetrics(4);
		metrics.turnStarted();
		metrics.note({
			...plain,
			operation: "turn",
			attributes: { "gen_ai.agent.name": "agentwire", "agentwire.turn.outcome": "finished" },
		});
		metrics.note({
			...plain,
			operation: "model-call",
			endedAt: 1030,
			attributes: {
				"gen_ai.provider.name": "openai",
				"gen_ai.request.model": "m",
				"gen_ai.usage.input_tokens": 35,
				"gen_ai.usage.output_tokens": 7,
				"gen_ai.usage.cache_read.input_tokens": 20,
				"gen_ai.usage.cache_write.input_tokens": 5,
				"agentwire.retries": 2,
			},
		});
		// Two seconds, of which a person took one and a half.
		metrics.note({ ...plain, waited: 1500, error: "tool_error" });
		const lines = metrics.text({ streams: 1, clients: 2, loadedSessions: 5 }).split("\n");
		const call = 'gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="m"';
		const tool = 'gen_ai_tool_name="Shell",error_type="tool_error"';
		for (const line of [
			"# TYPE agentwire_turns_started counter",
			"agentwire_turns_started_total 1",
			'agentwire_turns_ended_total{outcome="finished"} 1',
			"agentwire_turns_running 3",
			"# UNIT gen_ai_client_operation_duration_seconds seconds",
			`gen_ai_client_operation_duration_seconds_bucket{${call},le="0.02"} 0`,
			`gen_ai_client_operation_duration_seconds_bucket{${call},le="0.04"} 1`,
			`gen_ai_client_operation_duration_seconds_bucket{${call},le="81.92"} 1`,
			`gen_ai_client_operation_duration_seconds_bucket{${call},le="+Inf"} 1`,
			`gen_ai_client_operation_duration_seconds_sum{${call}} 0.03`,
			`gen_ai_client_token_usage_bucket{${call},gen_ai_token_type="input",le="64.0"} 1`,
			`gen_ai_client_token_usage_bucket{${call},gen_ai_token_type="input",le="16.0"} 0`,
			`gen_ai_client_token_usage_bucket{${call},gen_ai_token_type="input",le="67108864.0"} 1`,
			'agentwire_tokens_total{type="cache_read",model="m"} 20',
			"agentwire_model_call_retries_total 2",
			`gen_ai_execute_tool_duration_seconds_sum{${tool}} 0.5`,
			"agentwire_answer_wait_seconds_count 1",
			"agentwire_streams_open 1",
			"agentwire_clients_connected 2",
			"agentwire_sessions_loaded 5",
			"agentwire_spans_dropped_total 4",
		]) {
			expect(lines).toContain(line);
		}
		expect(lines.slice(-2)).toEqual(["# EOF", ""]);
		expect(lines.some((line) => /^process_resident_memory_bytes \d+$/.test(line))).toBe(true);
		metrics.end();
	});

	it("name each metric once, before its samples, as the format has it", () => {
		const metrics = createMetrics();
		metrics.note(plain);
		const text = metrics.text(null);
		metrics.end();
		const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name ?? "");
		expect(new Set(names).size).toBe(names.length);
		let current = "";
		for (const line of text.split("\n").slice(0, -2)) {
			const [, type] = /^# TYPE (\S+)/.exec(line) ?? [];
			if (type !== undefined) current = type;
			else if (!line.startsWith("#")) expect(line.startsWith(current)).toBe(true);
		}
		expect(text).not.toContain("agentwire_sessions_loaded");
		expect(text).not.toContain("agentwire_spans_dropped");
	});

	it("measure the event loop from the first request on", async () => {
		const metrics = createMetrics();
		expect(metrics.text(null)).not.toContain("nodejs_eventloop_delay");
		await expect.poll(() => metrics.text(null)).toContain('nodejs_eventloop_delay_seconds{quantile="0.99"}');
		metrics.end();
	});
});

describe("OpenMetrics", () => {
	it("escapes labels", () => {
		const counter = new Counter({ name: "c", help: "C." });
		counter.add(1, { name: 'a"b\\c\nd' });
		expect(counter.lines().at(-1)).toBe('c_total{name="a\\"b\\\\c\\nd"} 1');
		expect(toOpenMetrics(counter.lines())).toMatch(/\n# EOF\n$/);
	});

	it("cuts long labels, but no character of them", () => {
		const counter = new Counter({ name: "c", help: "C." });
		counter.add(1, { name: `${"n".repeat(199)}😀` });
		expect(counter.lines().at(-1)).toBe(`c_total{name="${"n".repeat(199)}"} 1`);
	});

	it("bounds the sets of labels of a metric", () => {
		const histogram = new Histogram({ name: "h", help: "H." }, [1]);
		for (let n = 0; n < seriesLimit + 5; n += 1) histogram.add(1, { name: `t${n}` });
		expect(histogram.lines()).toContain('h_count{name="other"} 5');
		expect(histogram.lines().filter((line) => line.startsWith("h_count"))).toHaveLength(seriesLimit + 1);
	});
});
