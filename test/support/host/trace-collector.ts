// A collector of OpenTelemetry on loopback: keeps what it is sent, and checks the JSON form of OTLP as its specification has
// it: ids in hexadecimal, 64-bit integers as decimal strings, enums as numbers.
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import * as v from "valibot";
import { onTestFinished } from "vitest";

const decimal = v.pipe(v.string(), v.regex(/^\d+$/));
const anyValue = v.union([
	v.strictObject({ stringValue: v.string() }),
	v.strictObject({ boolValue: v.boolean() }),
	v.strictObject({ intValue: v.pipe(v.string(), v.regex(/^-?\d+$/)) }),
	v.strictObject({ doubleValue: v.number() }),
	v.strictObject({ arrayValue: v.strictObject({ values: v.array(v.strictObject({ stringValue: v.string() })) }) }),
]);
const keyValues = v.array(v.strictObject({ key: v.pipe(v.string(), v.nonEmpty()), value: anyValue }));
const spanSchema = v.strictObject({
	traceId: v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/)),
	spanId: v.pipe(v.string(), v.regex(/^[0-9a-f]{16}$/)),
	parentSpanId: v.exactOptional(v.pipe(v.string(), v.regex(/^[0-9a-f]{16}$/))),
	name: v.pipe(v.string(), v.nonEmpty()),
	kind: v.picklist([1, 2, 3, 4, 5]),
	startTimeUnixNano: decimal,
	endTimeUnixNano: decimal,
	attributes: keyValues,
	events: v.array(v.strictObject({ name: v.string(), timeUnixNano: decimal, attributes: keyValues })),
	status: v.strictObject({ code: v.exactOptional(v.picklist([0, 1, 2])), message: v.exactOptional(v.string()) }),
});
export const tracesRequestSchema = v.strictObject({
	resourceSpans: v.array(
		v.strictObject({
			resource: v.strictObject({ attributes: keyValues }),
			scopeSpans: v.array(
				v.strictObject({
					scope: v.strictObject({ name: v.string(), version: v.string() }),
					spans: v.array(spanSchema),
				}),
			),
		}),
	),
});

/** A span as it arrived, with its attributes as an object. */
export interface ReceivedSpan {
	readonly name: string;
	readonly kind: number;
	readonly traceId: string;
	readonly spanId: string;
	readonly parentSpanId: string | null;
	readonly attributes: Readonly<Record<string, unknown>>;
	readonly status: object;
	/** Nanoseconds. */
	readonly startedAt: bigint;
	readonly endedAt: bigint;
}

export interface CollectedRequest {
	readonly path: string;
	readonly headers: IncomingHttpHeaders;
	readonly body: string;
}

/** What it answers: a status, headers and a body; null to leave the request without an answer. */
export type CollectorAnswer = {
	readonly status: number;
	readonly headers?: Record<string, string>;
	readonly body?: string;
};

/** Fails the test on a body that is not as specified. Gone when the running test ends. */
export async function startTraceCollector(answer: (count: number) => CollectorAnswer | null = () => ({ status: 200 })) {
	const requests: CollectedRequest[] = [];
	const server = createServer(async (request, response) => {
		let body = "";
		for await (const piece of request) body += String(piece);
		requests.push({ path: request.url ?? "", headers: request.headers, body });
		const chosen = answer(requests.length);
		if (chosen === null) return;
		response.writeHead(chosen.status, { "content-type": "application/json", ...chosen.headers });
		response.end(chosen.body ?? "{}");
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	onTestFinished(() => {
		server.closeAllConnections();
		server.close();
	});
	const { port } = server.address() as AddressInfo;
	return {
		url: `http://127.0.0.1:${port}`,
		requests,
		spans: () => requests.flatMap(({ body }) => readSpans(body)),
		resource: () => {
			const [first] = v.parse(tracesRequestSchema, JSON.parse(requests[0]?.body ?? "")).resourceSpans;
			return toObject(first?.resource.attributes ?? []);
		},
	};
}

export function readSpans(body: string): ReceivedSpan[] {
	const { resourceSpans } = v.parse(tracesRequestSchema, JSON.parse(body));
	return resourceSpans.flatMap(({ scopeSpans }) =>
		scopeSpans.flatMap(({ spans }) =>
			spans.map(({ parentSpanId = null, attributes, startTimeUnixNano, endTimeUnixNano, ...span }) => ({
				...span,
				parentSpanId,
				attributes: toObject(attributes),
				startedAt: BigInt(startTimeUnixNano),
				endedAt: BigInt(endTimeUnixNano),
			})),
		),
	);
}

function toObject(attributes: v.InferOutput<typeof keyValues>): Record<string, unknown> {
	return Object.fromEntries(
		attributes.map(({ key, value }) => {
			if ("intValue" in value) return [key, Number(value.intValue)];
			if ("arrayValue" in value) return [key, value.arrayValue.values.map(({ stringValue }) => stringValue)];
			return [key, Object.values(value)[0]];
		}),
	);
}
