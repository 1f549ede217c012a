// OTLP over HTTP as JSON, in batches. Nothing waits for it: excess spans are dropped and counted.
import type { Clock } from "../../base/clock.ts";
import { fetchFailureText } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import type { Log } from "../../base/log.ts";
import { beginning, toWellFormed } from "../../base/text/well-formed.ts";
import type { Attributes, AttributeValue, Span } from "./span.ts";

/** Spans per request, maximum queued spans, and milliseconds until a smaller batch is sent. */
export const batchSize = 512;
export const queueLimit = 2048;
export const batchDelay = 5000;

/** Attempts per batch before it is dropped, and milliseconds before a retry. */
const attemptLimit = 5;
const firstWait = 1000;
const longestWait = 30_000;

const retriedStatus: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Milliseconds between two warnings about export failures. */
const warningSpan = 60_000;

/** Maximum characters of a name and of a value: models choose call names of any length. */
const nameLimit = 256;
const valueLimit = 65_536;

/** Approximate characters of spans per request, and of queued spans: message contents make them large. */
const batchCharacters = 4 * 1024 * 1024;
const queueCharacters = 32 * 1024 * 1024;

/** Characters read from a response. */
const answerLimit = 4096;

export interface ExporterSettings {
	readonly url: string;
	readonly headers: Readonly<Record<string, string>>;
	readonly timeout: number;
	readonly resource: Attributes;
	readonly scope: { readonly name: string; readonly version: string };
	readonly fetch: typeof globalThis.fetch;
	/** Uniform in [0, 1). */
	readonly random: () => number;
	readonly clock: Clock;
	readonly log: Log;
}

type Sent =
	| { readonly kind: "sent" }
	| { readonly kind: "refused" }
	| { readonly kind: "again"; readonly after: number | null };

export class OtlpExporter {
	readonly #settings: ExporterSettings;
	#queue: Span[] = [];
	#queued = 0;
	#sending: Promise<void> | null = null;
	#withdrawTimer: (() => void) | null = null;
	/** Aborts waits, and everything after the final time limit. */
	readonly #ending = new AbortController();
	readonly #over = new AbortController();
	#dropped = 0;
	#unreported = 0;
	#lastWarning = Number.NEGATIVE_INFINITY;

	constructor(settings: ExporterSettings) {
		this.#settings = settings;
	}

	get dropped(): number {
		return this.#dropped;
	}

	add(span: Span): void {
		if (this.#over.signal.aborted) return;
		const size = sizeOf(span);
		if (this.#queue.length >= queueLimit || this.#queued + size > queueCharacters) {
			this.#drop(1, "the queue is full");
			return;
		}
		this.#queue.push(span);
		this.#queued += size;
		if (this.#isWhole()) {
			this.#begin();
			return;
		}
		if (this.#withdrawTimer !== null || this.#sending !== null) return;
		this.#withdrawTimer = this.#settings.clock.after(batchDelay, () => this.#begin(), true);
	}

	/** Sends each queued span once within this many milliseconds, then drops the rest. */
	async end(patience: number): Promise<void> {
		this.#ending.abort();
		const withdraw = this.#settings.clock.after(patience, () => this.#over.abort());
		try {
			while (!this.#over.signal.aborted && (this.#sending !== null || this.#queue.length > 0)) {
				this.#begin();
				await this.#sending;
			}
		} finally {
			withdraw();
			this.#over.abort();
			this.#drop(this.#takeAll().length, "the program ended");
		}
	}

	#begin(): void {
		this.#withdrawTimer?.();
		this.#withdrawTimer = null;
		this.#sending ??= this.#sendAll().finally(() => {
			this.#sending = null;
			if (this.#over.signal.aborted) return;
			const rest = this.#takeAll();
			for (const span of rest) this.add(span);
		});
	}

	async #sendAll(): Promise<void> {
		do {
			const batch = this.#takeBatch();
			if (batch.length > 0) await this.#sendBatch(batch);
		} while (this.#isWhole() && !this.#over.signal.aborted);
	}

	#isWhole(): boolean {
		return this.#queue.length >= batchSize || this.#queued >= batchCharacters;
	}

	#takeAll(): readonly Span[] {
		this.#queued = 0;
		return this.#queue.splice(0);
	}

	#takeBatch(): readonly Span[] {
		let size = 0;
		let count = 0;
		for (const span of this.#queue.slice(0, batchSize)) {
			if (count > 0 && size + sizeOf(span) > batchCharacters) break;
			size += sizeOf(span);
			count += 1;
		}
		this.#queued -= size;
		return this.#queue.splice(0, count);
	}

	async #sendBatch(batch: readonly Span[]): Promise<void> {
		const { resource, scope } = this.#settings;
		const body = JSON.stringify(toTracesRequest(batch, resource, scope));
		for (let attempt = 1; ; attempt += 1) {
			const sent = await this.#send(body);
			if (sent.kind === "sent") return;
			const isLast = attempt === attemptLimit || this.#ending.signal.aborted;
			if (sent.kind === "refused" || isLast) {
				this.#drop(batch.length, null);
				return;
			}
			const backoff = firstWait * 2 ** (attempt - 1) * (0.5 + this.#settings.random());
			await this.#pause(Math.min(sent.after ?? backoff, longestWait));
		}
	}

	async #send(body: string): Promise<Sent> {
		const { url, headers, timeout, fetch, clock } = this.#settings;
		const late = new AbortController();
		const withdraw = clock.after(timeout, () => late.abort(), true);
		try {
			const response = await fetch(url, {
				method: "POST",
				headers: { ...headers, "content-type": "application/json" },
				body,
				signal: AbortSignal.any([late.signal, this.#over.signal]),
				// The headers may contain a key for this collector only.
				redirect: "error",
			});
			const text = await readBeginning(response);
			if (response.ok) {
				this.#noteRejected(text);
				return { kind: "sent" };
			}
			this.#warn(`The collector answered with status ${response.status}.`);
			if (!retriedStatus.has(response.status)) return { kind: "refused" };
			return { kind: "again", after: readRetryAfter(response.headers.get("retry-after"), clock.now()) };
		} catch (thrown) {
			this.#warn(late.signal.aborted ? `no answer in ${timeout} ms` : fetchFailureText(thrown));
			return { kind: "again", after: null };
		} finally {
			withdraw();
		}
	}

	/** A collector may accept part of a batch. */
	#noteRejected(text: string): void {
		let answer: unknown;
		try {
			answer = JSON.parse(text);
		} catch {
			return;
		}
		const partial = isRecord(answer) ? answer["partialSuccess"] : null;
		if (!isRecord(partial)) return;
		const rejected = Number(partial["rejectedSpans"] ?? 0);
		if (rejected > 0) this.#drop(rejected, `the collector refused them: ${String(partial["errorMessage"] ?? "")}`);
	}

	#drop(count: number, reason: string | null): void {
		if (count === 0) return;
		this.#dropped += count;
		this.#unreported += count;
		if (reason !== null) this.#warn(reason);
	}

	#warn(reason: string): void {
		const { clock, log, url } = this.#settings;
		if (clock.monotonic() - this.#lastWarning < warningSpan) return;
		this.#lastWarning = clock.monotonic();
		log.warn("Spans could not be sent.", { url: withoutSecrets(url), reason, dropped: this.#unreported });
		this.#unreported = 0;
	}

	#pause(milliseconds: number): Promise<void> {
		const { signal } = this.#ending;
		if (signal.aborted) return Promise.resolve();
		return new Promise((resolve) => {
			const withdraw = this.#settings.clock.after(milliseconds, () => finish(), true);
			const finish = () => {
				withdraw();
				signal.removeEventListener("abort", finish);
				resolve();
			};
			signal.addEventListener("abort", finish);
		});
	}
}

function sizeOf({ attributes }: Span): number {
	let size = 0;
	for (const value of Object.values(attributes))
		if (typeof value === "string") size += Math.min(value.length, valueLimit);
	return size;
}

async function readBeginning({ body }: Response): Promise<string> {
	const decoder = new TextDecoder();
	let text = "";
	for await (const bytes of body ?? []) {
		text += decoder.decode(bytes, { stream: true });
		if (text.length >= answerLimit) break;
	}
	return beginning(text, answerLimit);
}

/** Milliseconds that a server asks to wait, or null. */
export function readRetryAfter(value: string | null, now: number): number | null {
	if (value === null) return null;
	if (/^\d+$/.test(value.trim())) return Number(value) * 1000;
	const date = Date.parse(value);
	return Number.isNaN(date) ? null : Math.max(0, date - now);
}

function withoutSecrets(url: string): string {
	const { origin, pathname } = new URL(url);
	return `${origin}${pathname}`;
}

/** The request body: `ExportTraceServiceRequest` in OTLP JSON. */
export function toTracesRequest(
	spans: readonly Span[],
	resource: Attributes,
	scope: { readonly name: string; readonly version: string },
): object {
	return {
		resourceSpans: [
			{ resource: { attributes: toKeyValues(resource) }, scopeSpans: [{ scope, spans: spans.map(toOtlpSpan) }] },
		],
	};
}

const kinds = { internal: 1, server: 2, client: 3 } as const;
const statusError = 2;

function toOtlpSpan(span: Span): object {
	return {
		traceId: span.traceId,
		spanId: span.spanId,
		...(span.parentId === null ? {} : { parentSpanId: span.parentId }),
		name: wellFormed(span.name, nameLimit),
		kind: kinds[span.kind],
		startTimeUnixNano: toNanoseconds(span.startedAt),
		endTimeUnixNano: toNanoseconds(span.endedAt),
		attributes: toKeyValues(span.attributes),
		events: span.moments.map(({ name, at, attributes }) => ({
			name,
			timeUnixNano: toNanoseconds(at),
			attributes: toKeyValues(attributes),
		})),
		status: span.error === null ? {} : { code: statusError, message: wellFormed(span.error, nameLimit) },
	};
}

/** As text, because it exceeds the precision of JSON numbers. */
function toNanoseconds(milliseconds: number): string {
	return String(BigInt(Math.round(milliseconds * 1000)) * 1000n);
}

function toKeyValues(attributes: Attributes): object[] {
	return Object.entries(attributes).map(([key, value]) => ({ key, value: toValue(value) }));
}

/** Replaces lone surrogates, left by truncation or models, which would make a collector reject the whole batch. */
function wellFormed(text: string, limit: number): string {
	return toWellFormed(beginning(text, limit));
}

function toValue(value: AttributeValue): object {
	switch (typeof value) {
		case "string":
			return { stringValue: wellFormed(value, valueLimit) };
		case "boolean":
			return { boolValue: value };
		case "number":
			if (Number.isSafeInteger(value)) return { intValue: String(value) };
			// Non-finite numbers are strings in Protocol Buffers JSON.
			return { doubleValue: Number.isFinite(value) ? value : String(value) };
		default:
			return { arrayValue: { values: value.map((each) => ({ stringValue: wellFormed(each, valueLimit) })) } };
	}
}
