import { type Attributes, readTraceParent, type SpanPlace } from "./span.ts";

export interface TraceSettings {
	readonly url: string;
	readonly headers: Readonly<Record<string, string>>;
	readonly timeout: number;
	readonly resource: Attributes;
	/** Whether to send a trace without a parent. */
	readonly isSampled: (traceId: string) => boolean;
	/** Applies the sampling settings to a trace begun elsewhere. */
	readonly adopt: (place: SpanPlace) => SpanPlace;
	readonly hasContent: boolean;
	readonly outer: SpanPlace | null;
	readonly warnings: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

const standardTimeout = 10_000;

export function readTraceSettings(
	environment: Environment,
	service: { readonly name: string; readonly version: string },
): TraceSettings | { readonly warnings: readonly string[] } {
	const warnings: string[] = [];
	const warn = (sentence: string) => void warnings.push(sentence);
	const read = (name: string) => environment[name]?.trim() || null;
	const ofTraces = (name: string) => read(`OTEL_EXPORTER_OTLP_TRACES_${name}`) ?? read(`OTEL_EXPORTER_OTLP_${name}`);
	const endpoint = readEndpoint(read, warn);
	if (endpoint === null || read("OTEL_SDK_DISABLED")?.toLowerCase() === "true") return { warnings };
	if (read("OTEL_TRACES_EXPORTER")?.toLowerCase() === "none") return { warnings };
	if (ofTraces("PROTOCOL")?.toLowerCase() === "grpc") {
		warn(
			"OTEL_EXPORTER_OTLP_PROTOCOL is grpc, but traces are sent over HTTP as JSON; set it to http/json and the endpoint to the port for HTTP, which is usually 4318.",
		);
	}
	const timeout = Number(ofTraces("TIMEOUT") ?? standardTimeout);
	const sampler = readSampler(read, warn);
	const outer = readTraceParent(read("TRACEPARENT"));
	const adopt = (place: SpanPlace): SpanPlace =>
		sampler.followsParent ? place : { ...place, isSampled: sampler.isSampled(place.traceId) };
	const serviceName = read("OTEL_SERVICE_NAME");
	const isTimeout = Number.isFinite(timeout) && timeout > 0;
	if (!isTimeout) warn("OTEL_EXPORTER_OTLP_TIMEOUT must be a number of milliseconds above 0; 10000 is used.");
	return {
		url: endpoint.url,
		headers: {
			...endpoint.headers,
			...readHeaders("OTEL_EXPORTER_OTLP_HEADERS", ofTraces("HEADERS") ?? "", warn),
		},
		timeout: isTimeout ? timeout : standardTimeout,
		resource: {
			"service.name": service.name,
			"service.version": service.version,
			...readPairs("OTEL_RESOURCE_ATTRIBUTES", read("OTEL_RESOURCE_ATTRIBUTES") ?? "", warn),
			...(serviceName === null ? {} : { "service.name": serviceName }),
			"telemetry.sdk.language": "nodejs",
			"telemetry.sdk.name": service.name,
			"telemetry.sdk.version": service.version,
		},
		isSampled: sampler.isSampled,
		hasContent: read("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT")?.toLowerCase() === "true",
		adopt,
		outer: outer === null ? null : adopt(outer),
		warnings,
	};
}

type Read = (name: string) => string | null;
type Warn = (sentence: string) => void;

/** Null when unset. The traces endpoint is used unchanged; the general endpoint is a base path. */
function readEndpoint(
	read: Read,
	warn: Warn,
): { readonly url: string; readonly headers: Readonly<Record<string, string>> } | null {
	const own = read("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
	const base = read("OTEL_EXPORTER_OTLP_ENDPOINT");
	const text = own ?? base;
	if (text === null) return null;
	const url = URL.canParse(text) ? new URL(text) : null;
	if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
		const name = own === null ? "OTEL_EXPORTER_OTLP_ENDPOINT" : "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
		warn(`${name} must be a URL with http or https, such as http://localhost:4318; no traces are sent.`);
		return null;
	}
	if (own === null) url.pathname = `${url.pathname.replace(/\/$/, "")}/v1/traces`;
	const { username, password } = url;
	if (username === "" && password === "") return { url: url.href, headers: {} };
	// Requests reject URLs with credentials, and displayed URLs must not show a password.
	url.username = "";
	url.password = "";
	const words = [username, password].map((text) => decoded(text) ?? text).join(":");
	return { url: url.href, headers: { authorization: `Basic ${Buffer.from(words, "utf8").toString("base64")}` } };
}

/** Pairs that are valid headers. Others would fail each request with an error that may contain the value. */
function readHeaders(variable: string, text: string, warn: Warn): Readonly<Record<string, string>> {
	const entries = Object.entries(readPairs(variable, text, warn)).filter(([name, value]) => {
		const isHeader = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
		if (!isHeader) warn(`${variable} has a pair that cannot be a header; it is left out.`);
		return isHeader;
	});
	return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), value]));
}

/** `name=value,name=value`, with URL-encoded values. */
function readPairs(variable: string, text: string, warn: Warn): Readonly<Record<string, string>> {
	const pairs: Record<string, string> = {};
	for (const pair of text.split(",")) {
		if (pair.trim() === "") continue;
		const at = pair.indexOf("=");
		const name = pair.slice(0, at).trim();
		const value = decoded(pair.slice(at + 1).trim());
		// Not shown: the value may be a key.
		if (at < 1 || name === "" || value === null || /[\r\n\0]/.test(value)) {
			warn(`${variable} must be a list of name=value with commas between them; a pair of it is left out.`);
			continue;
		}
		pairs[name] = value;
	}
	return pairs;
}

function decoded(text: string): string | null {
	try {
		return decodeURIComponent(text);
	} catch {
		return null;
	}
}

interface Sampler {
	readonly followsParent: boolean;
	isSampled(traceId: string): boolean;
}

function readSampler(read: Read, warn: Warn): Sampler {
	const name = read("OTEL_TRACES_SAMPLER")?.toLowerCase() ?? "parentbased_always_on";
	const followsParent = name.startsWith("parentbased_");
	switch (followsParent ? name.slice("parentbased_".length) : name) {
		case "always_on":
			return { followsParent, isSampled: () => true };
		case "always_off":
			return { followsParent, isSampled: () => false };
		case "traceidratio": {
			const ratio = Number(read("OTEL_TRACES_SAMPLER_ARG") ?? 1);
			if (ratio >= 0 && ratio <= 1) {
				return { followsParent, isSampled: (traceId) => Number.parseInt(traceId.slice(-8), 16) < ratio * 2 ** 32 };
			}
			warn("OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1; all traces are sent.");
			return { followsParent, isSampled: () => true };
		}
		default:
			warn(`OTEL_TRACES_SAMPLER: there is no sampler ${JSON.stringify(name)}; all traces are sent.`);
			return { followsParent: true, isSampled: () => true };
	}
}
