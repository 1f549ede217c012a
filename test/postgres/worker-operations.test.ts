// What operators see of workers as programs: health, metrics, and one trace from a request to a gateway to the tool that a worker runs.
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { request } from "node:https";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { runTurn } from "../../examples/durable/run-turn.mjs";
import { toolCall } from "../support/executable/executable.ts";
import { readTokens } from "../support/gateway/token-file.ts";
import { startTraceCollector } from "../support/host/trace-collector.ts";
import { type ClusterPrograms, createClusterPrograms } from "../support/postgres/cluster-programs.ts";

const url = inject("postgresUrl");
const fileOf = (name: string) => fileURLToPath(new URL(`../fixtures/tls/${name}.pem`, import.meta.url));

describe.skipIf(url === "")("what operators ask a worker", { timeout: 60_000 }, () => {
	let programs: ClusterPrograms;
	beforeEach(async () => {
		programs = await createClusterPrograms(url);
	});
	afterEach(() => programs.cleanUp());

	const ask = async (place: unknown, at: string, headers: Record<string, string> = {}) => {
		const response = await fetch(`${String(place)}${at}`, { headers });
		return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
	};

	it("is its health without a token, and its metrics with one", async () => {
		const worker = await programs.start(["worker", "--sessions", "7", "--operations", "127.0.0.1:0"]);
		const operations = worker.ready["operations"];
		const { gateway, call } = await programs.connect(await programs.start(["serve", "--port", "0"]));
		const { sessionId } = await call("sessions.create", { workDir: programs.home });
		await runTurn(gateway, { sessionId, key: "k", input: "text: hello" });
		for (const at of ["/healthz", "/readyz"]) {
			expect(await ask(operations, at)).toMatchObject({ status: 200, text: "ok\n" });
		}
		// A probe may come by any name.
		expect(await ask(operations, "/readyz", { host: "10.0.0.7" })).toMatchObject({ status: 200 });
		expect(await ask(operations, "/metrics")).toMatchObject({ status: 401 });
		expect(await ask(operations, "/metrics", { authorization: "Bearer wrong" })).toMatchObject({ status: 401 });
		expect(await ask(operations, "/elsewhere")).toMatchObject({ status: 404 });
		const { observe } = readTokens(path.join(programs.home, "gateway.json"));
		const metrics = await ask(operations, "/metrics", { authorization: `Bearer ${observe}` });
		expect(metrics.type).toBe("application/openmetrics-text; version=1.0.0; charset=utf-8");
		for (const line of [
			"agentwire_turns_started_total 1",
			'agentwire_turns_ended_total{outcome="finished"} 1',
			"agentwire_worker_connections 1",
			"agentwire_worker_sessions_limit 7",
			"agentwire_worker_ending 0",
			"agentwire_worker_sessions_taken_over_total 0",
			"agentwire_sessions_loaded 1",
		]) {
			expect(metrics.text.split("\n")).toContain(line);
		}
		expect(metrics.text).toMatch(/\n# EOF\n$/);
	});

	it("is that it is not ready while it ends", async () => {
		const worker = await programs.start(["worker", "--operations", "127.0.0.1:0"]);
		await writeFile(
			path.join(programs.home, "scripts.json"),
			JSON.stringify([toolCall("c", "Shell", { command: "until [ -e go ]; do sleep 0.05; done" }), "text: done"]),
		);
		const { call } = await programs.connect(await programs.start(["serve", "--port", "0"]));
		const { sessionId } = await call("sessions.create", { workDir: programs.home, mode: "yolo", model: "scripted" });
		await call("turn.start", { sessionId, input: "go on" });
		worker.child.kill("SIGTERM");
		const operations = worker.ready["operations"];
		await expect.poll(() => ask(operations, "/readyz"), { timeout: 10_000 }).toMatchObject({ status: 503 });
		expect(await ask(operations, "/healthz")).toMatchObject({ status: 200 });
		await writeFile(path.join(programs.home, "go"), "");
		const [code] = await once(worker.child, "exit");
		expect(code).toBe(0);
	});

	it("is answered over HTTPS where the worker has a certificate", async () => {
		const tls = ["--tls-cert", fileOf("server"), "--tls-key", fileOf("server-key")];
		const worker = await programs.start(["worker", "--operations", "127.0.0.1:0", ...tls]);
		const ca = await readFile(fileOf("authority"));
		const status = await new Promise<number | undefined>((resolve, reject) => {
			request(`${String(worker.ready["operations"])}/healthz`, { ca }, (response) => resolve(response.statusCode))
				.on("error", reject)
				.end();
		});
		expect(status).toBe(200);
	});

	it("is refused to be served in the clear to other machines", async () => {
		const run = await programs.run(["worker", "--operations", "0.0.0.0:0"]);
		expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining("--operations 0.0.0.0:0: other machines") });
	});

	it("has one line of JSON in the log for what happens, without secrets", async () => {
		const worker = await programs.start(["worker"]);
		worker.child.kill("SIGTERM");
		await once(worker.child, "exit");
		const lines = (await readFile(path.join(programs.home, "logs", "agentwire.log"), "utf8")).trim().split("\n");
		for (const line of lines) expect(JSON.parse(line)).toMatchObject({ msg: expect.any(String) });
	});
});

describe.skipIf(url === "")("a trace", { timeout: 60_000 }, () => {
	let programs: ClusterPrograms;
	beforeEach(async () => {
		programs = await createClusterPrograms(url);
	});
	afterEach(() => programs.cleanUp());

	it("leads from the client over the gateway to the worker's turn, its model calls and its tool", async () => {
		const collector = await startTraceCollector();
		await writeFile(
			path.join(programs.home, "scripts.json"),
			JSON.stringify([toolCall("c", "Shell", { command: "echo secret-output" }), "text: secret-answer"]),
		);
		const environment = (name: string) => ({
			OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
			OTEL_SERVICE_NAME: name,
		});
		const worker = await programs.start(["worker"], environment("the-worker"));
		const front = await programs.start(["serve", "--port", "0"], environment("the-gateway"));
		const { call, stream } = await programs.connect(front);
		const { sessionId } = await call("sessions.create", { workDir: programs.home, mode: "yolo", model: "scripted" });
		const events = await stream(sessionId);
		const [traceId, clientSpan] = ["a".repeat(32), "b".repeat(16)];
		await call(
			"turn.start",
			{ sessionId, input: "secret-question" },
			{ traceparent: `00-${traceId}-${clientSpan}-01` },
		);
		await expect.poll(() => events.map(({ type }) => type), { timeout: 20_000 }).toContain("turn.ended");
		for (const { child } of [front, worker]) {
			child.kill("SIGTERM");
			await once(child, "exit");
		}
		const spans = collector.spans().filter((span) => span.traceId === traceId);
		const [asked, turn, tool] = ["turn.start", "invoke_agent agentwire", "execute_tool Shell"].map((name) =>
			spans.find((span) => span.name === name),
		);
		expect(asked).toMatchObject({ parentSpanId: clientSpan, kind: 2, attributes: { "rpc.method": "turn.start" } });
		expect(turn).toMatchObject({ parentSpanId: asked?.spanId, attributes: { "gen_ai.conversation.id": sessionId } });
		expect(tool?.parentSpanId).toBe(turn?.spanId);
		const calls = spans.filter(({ name }) => name === "chat scripted");
		expect(calls.map(({ parentSpanId }) => parentSpanId)).toEqual([turn?.spanId, turn?.spanId]);
		expect(spans).toHaveLength(5);
		const bodies = collector.requests.map(({ body }) => body);
		const senders = ["the-gateway", "the-worker"].map((name) => bodies.find((body) => body.includes(name)) ?? "");
		expect(senders[0]).toContain('"turn.start"');
		expect(senders[1]).toContain("execute_tool Shell");
		expect(bodies.join("")).not.toContain("secret");
	});
});
