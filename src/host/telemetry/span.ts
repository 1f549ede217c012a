// A span for traces and metrics. Names and attributes follow the OpenTelemetry GenAI conventions; others are named `agentwire.*`.

export type AttributeValue = string | number | boolean | readonly string[];
export type Attributes = Readonly<Record<string, AttributeValue>>;

export interface SpanMoment {
	readonly name: string;
	readonly at: number;
	readonly attributes: Attributes;
}

export interface Span {
	/** 32 and 16 lower-case hexadecimal digits. */
	readonly traceId: string;
	readonly spanId: string;
	readonly parentId: string | null;
	/** Whether the trace is exported; its spans always count in metrics. */
	readonly isSampled: boolean;
	readonly operation: "request" | "turn" | "model-call" | "tool" | "compaction";
	readonly name: string;
	/** `client` for a request to another system, `server` for a client's request. */
	readonly kind: "internal" | "client" | "server";
	readonly startedAt: number;
	readonly endedAt: number;
	/** Milliseconds spent waiting for a user's answer. */
	readonly waited: number;
	readonly attributes: Attributes;
	readonly moments: readonly SpanMoment[];
	/** Error class at its end, or null. */
	readonly error: string | null;
}

export interface SpanPlace {
	readonly traceId: string;
	readonly spanId: string;
	readonly isSampled: boolean;
}

/** Parses a W3C Trace Context `traceparent` header; null if invalid. */
export function readTraceParent(value: string | null): SpanPlace | null {
	const found = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})/.exec(value?.toLowerCase() ?? "");
	const [, traceId = "", spanId = "", flags = ""] = found ?? [];
	if (found === null || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
	return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function toTraceParent({ traceId, spanId, isSampled }: SpanPlace): string {
	return `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;
}

export class OpenSpan {
	readonly place: SpanPlace;
	readonly startedAt: number;
	readonly #fixed: Pick<Span, "parentId" | "operation" | "name" | "kind">;
	readonly #attributes: Record<string, AttributeValue> = {};
	readonly #moments: SpanMoment[] = [];
	waited = 0;

	constructor(place: SpanPlace, startedAt: number, fixed: Pick<Span, "parentId" | "operation" | "name" | "kind">) {
		this.place = place;
		this.startedAt = startedAt;
		this.#fixed = fixed;
	}

	set(attributes: Attributes): void {
		Object.assign(this.#attributes, attributes);
	}

	add(name: string, amount: number): void {
		const before = this.#attributes[name];
		this.#attributes[name] = (typeof before === "number" ? before : 0) + amount;
	}

	note(moment: SpanMoment): void {
		if (this.#moments.length < momentLimit) this.#moments.push(moment);
	}

	end(at: number, error: string | null): Span {
		const { waited, startedAt } = this;
		const attributes = error === null ? this.#attributes : { ...this.#attributes, "error.type": error };
		const endedAt = Math.max(at, startedAt);
		return { ...this.place, ...this.#fixed, startedAt, endedAt, waited, attributes, moments: this.#moments, error };
	}
}

/** As in the OpenTelemetry SDKs. */
const momentLimit = 128;
