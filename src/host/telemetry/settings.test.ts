import { describe, expect, it } from "vitest";
import { readTraceSettings } from "./settings.ts";

const service = { name: "agentwire", version: "1.2.3" };
const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" };
function read(environment: Record<string, string>) {
	const settings = readTraceSettings({ ...endpoint, ...environment }, service);
	if (!("url" in settings)) throw new Error(`nothing is sent: ${settings.warnings}`);
	return settings;
}

describe("settings of traces", () => {
	it.each<Record<string, string>>([
		{},
		{ OTEL_EXPORTER_OTLP_ENDPOINT: " " },
		{ ...endpoint, OTEL_SDK_DISABLED: "TRUE" },
		{ ...endpoint, OTEL_TRACES_EXPORTER: "none" },
	])("send nothing with %j", (environment) => {
		expect(readTraceSettings(environment, service)).toEqual({ warnings: [] });
	});

	it("refuse an endpoint that is no URL of HTTP", () => {
		for (const url of ["collector:4318", "ftp://collector", "no url"]) {
			const settings = readTraceSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: url }, service);
			expect(settings).not.toHaveProperty("url");
			expect(settings.warnings).toEqual([expect.stringContaining("OTEL_EXPORTER_OTLP_ENDPOINT must be a URL")]);
		}
	});

	it("add the path of traces to the common endpoint, and none to that of traces", () => {
		expect(read({}).url).toBe("http://collector:4318/v1/traces");
		expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: "https://c/base/" }).url).toBe("https://c/base/v1/traces");
		expect(read({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://c/own" }).url).toBe("https://c/own");
	});

	it("read headers and attributes as lists of pairs, and say nothing of their values where one is wrong", () => {
		const settings = read({
			OTEL_EXPORTER_OTLP_HEADERS: "api-key=a%20b, x=c=d,wrong,=e,bad=%zz",
			OTEL_RESOURCE_ATTRIBUTES: "service.name=other,deployment.environment.name=test",
		});
		expect(settings.headers).toEqual({ "api-key": "a b", x: "c=d" });
		expect(settings.resource).toMatchObject({ "service.name": "other", "deployment.environment.name": "test" });
		expect(settings.warnings).toHaveLength(3);
		expect(settings.warnings.join()).not.toContain("zz");
		expect(read({ OTEL_EXPORTER_OTLP_TRACES_HEADERS: "a=b", OTEL_EXPORTER_OTLP_HEADERS: "c=d" }).headers).toEqual({
			a: "b",
		});
	});

	it("name the service", () => {
		expect(read({}).resource).toMatchObject({ "service.name": "agentwire", "service.version": "1.2.3" });
		const both = read({ OTEL_SERVICE_NAME: "mine", OTEL_RESOURCE_ATTRIBUTES: "service.name=other" });
		expect(both.resource["service.name"]).toBe("mine");
	});

	it("read the timeout in milliseconds", () => {
		expect(read({}).timeout).toBe(10_000);
		expect(read({ OTEL_EXPORTER_OTLP_TIMEOUT: "250" }).timeout).toBe(250);
		expect(read({ OTEL_EXPORTER_OTLP_TIMEOUT: "-1" })).toMatchObject({
			timeout: 10_000,
			warnings: [expect.any(String)],
		});
	});

	it("warn of a protocol that is not spoken", () => {
		expect(read({ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }).warnings).toEqual([expect.stringContaining("4318")]);
		expect(read({ OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf" }).warnings).toEqual([]);
	});

	it("sample by the id of the trace", () => {
		const low = `${"a".repeat(24)}10000000`;
		const high = `${"a".repeat(24)}f0000000`;
		const sampled = (sampler: string, argument = "") => {
			const { isSampled } = read({ OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: argument });
			return [isSampled(low), isSampled(high)];
		};
		expect(sampled("")).toEqual([true, true]);
		expect(sampled("always_off")).toEqual([false, false]);
		expect(sampled("parentbased_always_off")).toEqual([false, false]);
		expect(sampled("traceidratio", "0.5")).toEqual([true, false]);
		expect(sampled("parentbased_traceidratio", "0")).toEqual([false, false]);
		expect(sampled("traceidratio", "1")).toEqual([true, true]);
		expect(read({ OTEL_TRACES_SAMPLER: "odd" }).warnings).toEqual([expect.stringContaining('"odd"')]);
		expect(read({ OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "2" }).warnings).toHaveLength(1);
	});

	it("take the trace that a parent process passes on", () => {
		const [traceId, spanId] = ["a".repeat(32), "b".repeat(16)];
		const outer = (flags: string, more = {}) =>
			read({ TRACEPARENT: `00-${traceId}-${spanId}-${flags}`, ...more }).outer;
		expect(outer("01")).toEqual({ traceId, spanId, isSampled: true });
		expect(outer("00")).toEqual({ traceId, spanId, isSampled: false });
		expect(outer("00", { OTEL_TRACES_SAMPLER: "always_on" })?.isSampled).toBe(true);
		expect(read({ TRACEPARENT: `00-${"0".repeat(32)}-${spanId}-01` }).outer).toBe(null);
		expect(read({ TRACEPARENT: "odd" }).outer).toBe(null);
	});

	it("hold content back unless it is asked for", () => {
		const variable = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";
		expect(["", "false", "1", "true", "TRUE"].map((value) => read({ [variable]: value }).hasContent)).toEqual([
			false,
			false,
			false,
			true,
			true,
		]);
	});
});
