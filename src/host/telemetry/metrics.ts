import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import { Counter, Histogram, type Labels, toCount, toGauge, toOpenMetrics } from "./open-metrics.ts";
import type { Span } from "./span.ts";

export interface ServerNumbers {
	readonly streams: number;
	readonly clients: number;
	readonly loadedSessions: number;
}

export interface WorkerNumbers {
	readonly connections: number;
	readonly sessions: number;
	readonly capacity: number;
	readonly takenOver: number;
	readonly isEnding: boolean;
	readonly loadedSessions: number;
}

export interface MetricsSource {
	runningTurns(): number;
	droppedSpans(): number | null;
}

/** Seconds: 0.01, doubled up to 81.92. */
const durationBounds = Array.from({ length: 14 }, (_, index) => (2 ** index * 10) / 1000);
/** Tokens: powers of 4 up to 4^13. */
const tokenBounds = Array.from({ length: 14 }, (_, index) => 4 ** index);

/** Sampling interval of the event loop delay in milliseconds. */
const delayResolution = 20;

export class Metrics {
	readonly #source: MetricsSource;
	readonly #started = new Counter({ name: "agentwire_turns_started", help: "Turns that began." });
	readonly #ended = new Counter({ name: "agentwire_turns_ended", help: "Turns that ended, by their outcome." });
	readonly #turnTime = new Histogram(
		{ name: "gen_ai_invoke_agent_duration_seconds", help: "Time from the start of a turn to its end." },
		durationBounds,
	);
	readonly #callTime = new Histogram(
		{ name: "gen_ai_client_operation_duration_seconds", help: "Time of a model call, its retries included." },
		durationBounds,
	);
	readonly #firstChunk = new Histogram(
		{
			name: "gen_ai_client_operation_time_to_first_chunk_seconds",
			help: "Time from the start of a model call to the first piece of its answer.",
		},
		durationBounds,
	);
	readonly #toolTime = new Histogram(
		{
			name: "gen_ai_execute_tool_duration_seconds",
			help: "Time of a tool call, without waiting for a person.",
		},
		durationBounds,
	);
	readonly #approvalTime = new Histogram(
		{ name: "agentwire_answer_wait_seconds", help: "Time that a tool call waited for a person's answer." },
		durationBounds,
	);
	readonly #tokenUse = new Histogram(
		{ name: "gen_ai_client_token_usage", help: "Tokens of a model call; input includes what was cached." },
		tokenBounds,
	);
	readonly #tokens = new Counter({
		name: "agentwire_tokens",
		help: "Tokens of model calls; input includes cache_read and cache_write.",
	});
	readonly #retries = new Counter({ name: "agentwire_model_call_retries", help: "Attempts after the first one." });
	#delay: IntervalHistogram | null = null;

	constructor(source: MetricsSource) {
		this.#source = source;
	}

	turnStarted(): void {
		this.#started.add(1);
	}

	note(span: Span): void {
		const seconds = (span.endedAt - span.startedAt) / 1000;
		const text = (name: string) => String(span.attributes[name] ?? "");
		const failure: Labels = span.error === null ? {} : { error_type: span.error };
		switch (span.operation) {
			case "turn": {
				const outcome = text("agentwire.turn.outcome");
				this.#ended.add(1, { outcome });
				this.#turnTime.add(seconds, { gen_ai_agent_name: text("gen_ai.agent.name"), outcome });
				return;
			}
			case "model-call": {
				const labels = {
					gen_ai_operation_name: "chat",
					gen_ai_provider_name: text("gen_ai.provider.name"),
					gen_ai_request_model: text("gen_ai.request.model"),
				};
				this.#callTime.add(seconds, { ...labels, ...failure });
				const first = span.attributes["gen_ai.response.time_to_first_chunk"];
				if (typeof first === "number") this.#firstChunk.add(first, labels);
				this.#retries.add(toNumber(span, "agentwire.retries"));
				this.#noteTokens(span, labels);
				return;
			}
			case "tool":
				this.#toolTime.add(Math.max(0, seconds - span.waited / 1000), {
					gen_ai_tool_name: text("gen_ai.tool.name"),
					...failure,
				});
				if (span.waited > 0) this.#approvalTime.add(span.waited / 1000);
				return;
			case "request":
			case "compaction":
				return;
		}
	}

	#noteTokens(span: Span, labels: Labels): void {
		if (span.attributes["gen_ai.usage.input_tokens"] === undefined) return;
		for (const type of ["input", "output"]) {
			this.#tokenUse.add(toNumber(span, `gen_ai.usage.${type}_tokens`), { ...labels, gen_ai_token_type: type });
		}
		for (const type of ["input", "output", "cache_read", "cache_write"]) {
			const name = type.startsWith("cache") ? `gen_ai.usage.${type}.input_tokens` : `gen_ai.usage.${type}_tokens`;
			this.#tokens.add(toNumber(span, name), { type, model: labels["gen_ai_request_model"] ?? "" });
		}
	}

	text(server: ServerNumbers | null, worker: WorkerNumbers | null = null): string {
		const dropped = this.#source.droppedSpans();
		return toOpenMetrics([
			...this.#started.lines(),
			...this.#ended.lines(),
			...toGauge({ name: "agentwire_turns_running", help: "Turns running now, including those of subagents." }, [
				{ value: this.#source.runningTurns() },
			]),
			...[this.#turnTime, this.#callTime, this.#firstChunk, this.#toolTime, this.#approvalTime].flatMap((each) =>
				each.lines(),
			),
			...this.#tokenUse.lines(),
			...this.#tokens.lines(),
			...this.#retries.lines(),
			...(server === null ? [] : toServerLines(server)),
			...(worker === null ? [] : toWorkerLines(worker)),
			...(dropped === null
				? []
				: toCount({ name: "agentwire_spans_dropped", help: "Spans that were not sent." }, dropped)),
			...this.#delayLines(),
			...processLines(),
		]);
	}

	/** Event loop delay since the last request. Measured from the first request on, so that unused metrics cost nothing. */
	#delayLines(): string[] {
		const family = { name: "nodejs_eventloop_delay_seconds", help: "Delay of the event loop since the last request." };
		const delay = this.#delay;
		if (delay === null) {
			this.#delay = monitorEventLoopDelay({ resolution: delayResolution });
			this.#delay.enable();
			return [];
		}
		const samples = [
			{ labels: { quantile: "0.5" }, value: delay.percentile(50) / 1e9 },
			{ labels: { quantile: "0.99" }, value: delay.percentile(99) / 1e9 },
			{ labels: { quantile: "1" }, value: delay.max / 1e9 },
		];
		const isMeasured = delay.count > 0;
		delay.reset();
		return isMeasured ? toGauge(family, samples) : [];
	}

	end(): void {
		this.#delay?.disable();
	}
}

function toNumber({ attributes }: Span, name: string): number {
	const value = attributes[name];
	return typeof value === "number" ? value : 0;
}

function toServerLines({ streams, clients, loadedSessions }: ServerNumbers): string[] {
	return [
		...toGauge({ name: "agentwire_streams_open", help: "Open event streams." }, [{ value: streams }]),
		...toGauge({ name: "agentwire_clients_connected", help: "Client connections: event streams and WebSockets." }, [
			{ value: clients },
		]),
		...toLoadedLines(loadedSessions),
	];
}

function toWorkerLines({
	connections,
	sessions,
	capacity,
	takenOver,
	isEnding,
	loadedSessions,
}: WorkerNumbers): string[] {
	const gauge = (name: string, help: string, value: number) =>
		toGauge({ name: `agentwire_worker_${name}`, help }, [{ value }]);
	return [
		...gauge("connections", "Connections of gateways.", connections),
		...gauge("sessions", "Sessions that gateways use.", sessions),
		...gauge("sessions_limit", "Maximum number of sessions that gateways may use.", capacity),
		...gauge("ending", "1 when it is shutting down and takes no more sessions.", isEnding ? 1 : 0),
		...toCount(
			{ name: "agentwire_worker_sessions_taken_over", help: "Sessions that were taken over in the middle of a turn." },
			takenOver,
		),
		...toLoadedLines(loadedSessions),
	];
}

function toLoadedLines(value: number): string[] {
	return toGauge({ name: "agentwire_sessions_loaded", help: "Sessions that are in memory." }, [{ value }]);
}

function processLines(): string[] {
	const { rss, heapUsed } = process.memoryUsage();
	const { user, system } = process.cpuUsage();
	const startedAt = Date.now() / 1000 - process.uptime();
	return [
		...toGauge({ name: "process_resident_memory_bytes", help: "Memory of the process." }, [{ value: rss }]),
		...toGauge({ name: "nodejs_heap_size_used_bytes", help: "Memory of JavaScript in use." }, [{ value: heapUsed }]),
		...toCount({ name: "process_cpu_seconds", help: "Time of processors." }, (user + system) / 1e6),
		...toGauge({ name: "process_start_time_seconds", help: "Start time of the process, since 1970." }, [
			{ value: startedAt },
		]),
	];
}
