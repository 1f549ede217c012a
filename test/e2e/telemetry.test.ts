// Telemetry of the built executable: traces at a collector, and what operators ask a gateway.
import { request } from "node:http";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createStage, executablePath, runExecutable, type Stage, toolCall } from "../support/executable/executable.ts";
import { GatewayClient, isEvent } from "../support/gateway/gateway-client.ts";
import { readTokens } from "../support/gateway/token-file.ts";
import { startTraceCollector } from "../support/host/trace-collector.ts";

const scripts = [`text: I look.\n${toolCall("c", "Shell", { command: "echo secret-output" })}`, "text: secret-answer"];
const print = (stage: Stage, variables: Record<string, string>) =>
	runExecutable(executablePath, ["--print", "--session", "s", "--prompt", "secret-question"], {
		cwd: stage.workDir,
		env: { ...stage.environment, ...variables },
	});

describe("traces of print mode", () => {
	it("are sent before it exits, without the content of messages", async () => {
		const collector = await startTraceCollector();
		const stage = createStage({ scripts });
		const { code, stdout } = await print(stage, {
			OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
			OTEL_EXPORTER_OTLP_HEADERS: "api-key=k",
			OTEL_SERVICE_NAME: "mine",
		});
		expect(code).toBe(0);
		expect(stdout).toContain("secret-answer");
		const spans = collector.spans();
		const [turn] = spans.filter(({ name }) => name === "invoke_agent agentwire");
		const calls = spans.filter(({ name }) => name.startsWith("chat "));
		const [tool] = spans.filter(({ name }) => name === "execute_tool Shell");
		expect(spans).toHaveLength(4);
		expect(turn).toMatchObject({ kind: 1, parentSpanId: null, attributes: { "gen_ai.conversation.id": "s" } });
		expect(calls).toHaveLength(2);
		for (const span of [...calls, tool]) {
			expect(span).toMatchObject({ traceId: turn?.traceId, parentSpanId: turn?.spanId });
		}
		expect(calls[0]?.kind).toBe(3);
		expect(tool?.attributes).toMatchObject({ "gen_ai.tool.call.id": "c" });
		expect(spans.every(({ startedAt, endedAt }) => startedAt <= endedAt)).toBe(true);
		expect(collector.requests[0]).toMatchObject({ path: "/v1/traces", headers: { "api-key": "k" } });
		expect(collector.resource()).toMatchObject({ "service.name": "mine" });
		const sent = collector.requests.map(({ body }) => body).join();
		expect(sent).not.toContain("secret");
	});

	it("nest the turn of a subagent in its call, in the foreground and in the background", async () => {
		for (const more of [{}, { run_in_background: true }]) {
			const collector = await startTraceCollector();
			const report = `text: ${"All of it is as it should be, and nothing was changed. ".repeat(5)}`;
			const call = toolCall("p", "Agent", { description: "a task", prompt: "Do it", ...more });
			const stage = createStage({ scripts: [call, ...Array.from({ length: 6 }, () => report)] });
			const run = await print(stage, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
			expect(run).toMatchObject({ code: 0 });
			const spans = collector.spans();
			const [tool] = spans.filter(({ name }) => name === "execute_tool Agent");
			const [subagent] = spans.filter(({ name }) => name === "invoke_agent coder");
			expect(subagent).toMatchObject({ traceId: tool?.traceId, parentSpanId: tool?.spanId });
			const inside = spans.filter(({ parentSpanId }) => parentSpanId === subagent?.spanId);
			expect(inside.map(({ name }) => name.split(" ")[0])).toEqual(["chat"]);
		}
	});

	it("have the content of messages where a variable asks for it", async () => {
		const collector = await startTraceCollector();
		const stage = createStage({ scripts });
		await print(stage, {
			OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
			OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true",
		});
		const sent = collector.requests.map(({ body }) => body).join();
		for (const text of ["secret-question", "secret-output", "secret-answer"]) expect(sent).toContain(text);
	});

	it("are not sent where the exporter is switched off", async () => {
		const collector = await startTraceCollector();
		const stage = createStage({ scripts });
		const { code } = await print(stage, {
			OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
			OTEL_TRACES_EXPORTER: "none",
		});
		expect(code).toBe(0);
		expect(collector.requests).toEqual([]);
	});

	it("change nothing when the collector does not answer", async () => {
		const collector = await startTraceCollector(() => null);
		const stage = createStage({ scripts });
		const run = await print(stage, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
		expect(run).toMatchObject({
			code: 0,
			stderr: expect.stringMatching(/\nTo resume this session: agentwire -r s\n$/),
		});
		expect(run.stdout).toContain("secret-answer");
		expect(collector.requests).toHaveLength(1);
	});
});

describe("what operators ask a gateway", () => {
	it("is its health without a token, and its metrics with one", async () => {
		const collector = await startTraceCollector();
		const stage = createStage({ scripts: ["text: done"] });
		const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
		const server = stage.serveWith(variables, "serve", "--json", "--port", "0");
		const [line] = await server.readUntil(() => true);
		const port = Number(new URL((line as unknown as { url: string }).url).port);
		const tokens = readTokens(path.join(stage.shareDir, "gateway.json"));
		const client = new GatewayClient(port, tokens.control ?? "");
		expect(await ask(port, "/healthz")).toEqual({ status: 200, type: "text/plain; charset=utf-8", text: "ok\n" });
		expect(await ask(port, "/readyz")).toMatchObject({ status: 200, text: "ok\n" });
		expect(await ask(port, "/readyz", { host: "elsewhere.test" })).toMatchObject({ status: 421 });
		expect(await ask(port, "/metrics")).toMatchObject({ status: 401 });
		const sessionId = await client.createSession();
		const stream = await client.stream(`sessions=${sessionId}`);
		await client.result("turn.start", { sessionId, input: "go" });
		await stream.until(isEvent("turn.ended"));
		const metrics = await ask(port, "/metrics", { authorization: `Bearer ${tokens.observe}` });
		expect(metrics.type).toBe("application/openmetrics-text; version=1.0.0; charset=utf-8");
		const lines = metrics.text.split("\n");
		for (const expected of [
			"agentwire_turns_started_total 1",
			'agentwire_turns_ended_total{outcome="finished"} 1',
			"agentwire_turns_running 0",
			"agentwire_streams_open 1",
			"agentwire_sessions_loaded 1",
			"agentwire_spans_dropped_total 0",
		]) {
			expect(lines).toContain(expected);
		}
		expect(metrics.text).toMatch(/\n# EOF\n$/);
		server.kill("SIGTERM");
		expect(await server.exited).toBe(0);
		expect(collector.spans().map(({ name }) => name)).toContain("invoke_agent agentwire");
	});
});

function ask(port: number, path: string, headers: Record<string, string> = {}) {
	return new Promise<{ status: number; type: string; text: string }>((resolve, reject) => {
		const sent = request({ host: "127.0.0.1", port, path, headers }, async (response) => {
			let text = "";
			for await (const piece of response) text += String(piece);
			resolve({ status: response.statusCode ?? 0, type: String(response.headers["content-type"]), text });
		});
		sent.on("error", reject);
		sent.end();
	});
}
