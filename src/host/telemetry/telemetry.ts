import type { AgentEvent } from "../../api/values/event.ts";
import type { Clock } from "../../base/clock.ts";
import type { Identifiers } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import { Metrics } from "./metrics.ts";
import { OtlpExporter } from "./otlp.ts";
import { readTraceSettings } from "./settings.ts";
import { OpenSpan, readTraceParent, toTraceParent } from "./span.ts";
import type { ModelInUse } from "./span-attributes.ts";
import { SpanFold } from "./span-fold.ts";

export interface TelemetryParts {
	readonly environment: Readonly<Record<string, string>>;
	readonly service: { readonly name: string; readonly version: string };
	readonly fetch: typeof globalThis.fetch;
	readonly identifiers: Pick<Identifiers, "hex">;
	readonly random: () => number;
	readonly clock: Clock;
	readonly log: Log;
}

export interface RequestTrace {
	/** `traceparent` for the work it starts; null outside a trace. */
	readonly place: string | null;
	/** `error` is the error class, or null. */
	end(error: string | null): void;
}

export interface Telemetry {
	/** Begins a request for this method; `parent` is its unvalidated `traceparent`. */
	request(method: string, parent: string | null): RequestTrace;
	/** Processes a delivered event. Never throws; nothing waits for it. */
	observe(event: AgentEvent, model: (event: AgentEvent) => ModelInUse): void;
	readonly metrics: Metrics;
	end(patience: number): Promise<void>;
}

export function startTelemetry(parts: TelemetryParts): Telemetry {
	const { environment, service, fetch, identifiers, random, clock, log } = parts;
	const settings = readTraceSettings(environment, service);
	for (const sentence of settings.warnings) log.warn(sentence);
	const traces = "url" in settings ? settings : null;
	const exporter = traces === null ? null : new OtlpExporter({ ...traces, scope: service, fetch, random, clock, log });
	let hasFailed = false;
	const fold = new SpanFold({
		hex: (length) => identifiers.hex(length),
		isSampled: traces?.isSampled ?? (() => false),
		hasContent: traces?.hasContent ?? false,
		outer: traces?.outer ?? null,
		adopt: (place) => traces?.adopt(place) ?? place,
		monotonic: () => clock.monotonic(),
		turnStarted: () => metrics.turnStarted(),
		ended(span) {
			metrics.note(span);
			if (span.isSampled) exporter?.add(span);
		},
	});
	const metrics = new Metrics({
		runningTurns: () => fold.running,
		droppedSpans: () => exporter?.dropped ?? null,
	});
	let isOver = false;
	return {
		metrics,
		request(method, parent) {
			const given = readTraceParent(parent);
			// Without a collector here, the work it starts may have one.
			if (traces === null) return { place: given === null ? null : toTraceParent(given), end: () => {} };
			const outer = given === null ? null : traces.adopt(given);
			const traceId = outer?.traceId ?? identifiers.hex(32);
			const isSampled = outer?.isSampled ?? traces.isSampled(traceId);
			const startedAt = clock.now();
			const since = clock.monotonic();
			const span = new OpenSpan({ traceId, spanId: identifiers.hex(16), isSampled }, startedAt, {
				operation: "request",
				name: method,
				kind: "server",
				parentId: outer?.spanId ?? null,
			});
			span.set({ "rpc.system": "jsonrpc", "rpc.method": method });
			return {
				place: toTraceParent(span.place),
				end(error) {
					const ended = span.end(startedAt + clock.monotonic() - since, error);
					metrics.note(ended);
					if (isSampled && !isOver) exporter?.add(ended);
				},
			};
		},
		observe(event, model) {
			if (isOver) return;
			try {
				fold.note(event, model);
			} catch (error) {
				// A defect here must not end a turn. Log it once.
				if (!hasFailed) log.error("An event could not be observed.", { error, type: event.body.type });
				hasFailed = true;
			}
		},
		async end(patience) {
			metrics.end();
			await exporter?.end(patience);
			isOver = true;
		},
	};
}
