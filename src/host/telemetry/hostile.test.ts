// What attacks telemetry: collectors that misbehave, values from outside, variables with secrets.
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { startTraceCollector } from "../../../test/support/host/trace-collector.ts";
import type { AgentEvent, EventBody } from "../../api/values/event.ts";
import { systemClock } from "../../base/clock.ts";
import { randomIdentifiers } from "../../base/ids.ts";
import { createNetwork } from "../../ports/network/network.ts";
import { startTelemetry } from "./telemetry.ts";

function createSubject(environment: Record<string, string>) {
	const lines: string[] = [];
	const note = (text: string, fields?: object) => void lines.push(`${text} ${JSON.stringify(fields ?? {})}`);
	const log = { debug: note, info: note, warn: note, error: note };
	const { fetch } = createNetwork({
		environment: {},
		caFile: null,
		readFile: async () => null,
		clock: systemClock,
		log,
	});
	const telemetry = startTelemetry({
		environment,
		service: { name: "agentwire", version: "1" },
		fetch,
		identifiers: randomIdentifiers,
		random: () => 0.5,
		clock: systemClock,
		log,
	});
	let at = 1_763_000_000_000;
	const take = (body: EventBody) => {
		at += 10;
		const event: AgentEvent = { sessionId: "s", turnId: "t", agentPath: [], at, body };
		telemetry.observe(event, () => ({ name: "m", provider: "p" }));
	};
	const turn = (name = "Shell", id = "c") => {
		take({ type: "turn.started", input: "secret-question" });
		const call = { name, arguments: "{}" };
		take({ type: "tool.requested", call: { type: "function", id, function: call, extras: null } });
		take({ type: "turn.ended", outcome: { status: "finished" } });
	};
	return { telemetry, turn, lines };
}

async function listen(listener: RequestListener): Promise<string> {
	const server = createServer(listener);
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	onTestFinished(() => {
		server.closeAllConnections();
		server.close();
	});
	return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("a hostile collector", () => {
	it.each<[string, RequestListener]>([
		["never answers", () => {}],
		["closes the connection", (request) => request.socket.destroy()],
		["answers with an error", (_, response) => response.writeHead(500).end("no")],
		["begins an answer and stops", (_, response) => response.writeHead(200).write("{")],
		["redirects elsewhere", (_, response) => response.writeHead(307, { location: "http://127.0.0.1:1/" }).end()],
		[
			"answers without an end",
			(_, response) => {
				response.writeHead(200);
				const piece = "x".repeat(65_536);
				const more = () => {
					while (!response.destroyed && response.write(piece));
					if (!response.destroyed) response.once("drain", more);
				};
				more();
			},
		],
		["asks to wait for ever", (_, response) => response.writeHead(503, { "retry-after": "9".repeat(400) }).end()],
	])("that %s holds the end up for no longer than it may", async (_, listener) => {
		const place = await listen(listener);
		const { telemetry, turn } = createSubject({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://${place}` });
		turn();
		// Resolves at all: nothing else would end it.
		await expect(telemetry.end(300)).resolves.toBeUndefined();
		turn();
	});

	it("gets name and password of its address as a header, and the log has neither", async () => {
		const seen: unknown[] = [];
		const place = await listen((request, response) => {
			seen.push(request.headers.authorization);
			response.writeHead(400).end();
		});
		const { telemetry, turn, lines } = createSubject({
			OTEL_EXPORTER_OTLP_ENDPOINT: `http://me:pass%20word@${place}`,
		});
		turn();
		await telemetry.end(5_000);
		expect(seen).toEqual([`Basic ${Buffer.from("me:pass word").toString("base64")}`]);
		expect(lines.join()).toContain("400");
		expect(lines.join()).not.toMatch(/pass.{0,3}word/);
	});

	it.each(["api-key=secret%E2%98%83word", "api key=secretword", "api-key=secret%0Aword"])(
		"is sent no pair that can be no header, and the log does not have it: %s",
		async (pair) => {
			const collector = await startTraceCollector();
			const { telemetry, turn, lines } = createSubject({
				OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
				OTEL_EXPORTER_OTLP_HEADERS: `${pair},other=kept`,
			});
			turn();
			await telemetry.end(5_000);
			expect(collector.requests[0]?.headers).toMatchObject({ other: "kept" });
			expect(lines.join()).toContain("is left out");
			expect(lines.join()).not.toContain("secret");
		},
	);
});

describe("hostile values", () => {
	it("are bounded, and leave the batch readable", async () => {
		const collector = await startTraceCollector();
		const { telemetry, turn } = createSubject({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
		turn("a\ud800\u0000b", `\udfff${"i".repeat(1_000_000)}`);
		turn("__proto__", "constructor");
		await telemetry.end(5_000);
		const sent = collector.requests.map(({ body }) => body).join("");
		expect(sent).not.toMatch(/\\ud[89a-f]/i);
		expect(sent.length).toBeLessThan(200_000);
		expect(collector.spans().map(({ name }) => name)).toContain("execute_tool __proto__");
		expect(sent).not.toContain("secret");
	});

	it("make no more sets of labels than there may be", () => {
		const { telemetry, turn } = createSubject({});
		for (let n = 0; n < 5_000; n += 1) turn(`tool-${n}"\n} 1\n`, `c${n}`);
		const text = telemetry.metrics.text(null);
		const counts = text.split("\n").filter((line) => line.startsWith("gen_ai_execute_tool_duration_seconds_count"));
		expect(counts.length).toBeLessThanOrEqual(201);
		expect(text).toContain('gen_ai_tool_name="other"');
		for (const line of text.trimEnd().split("\n")) expect(line).toMatch(/^(#|[a-z_]+(\{.*\})? \S+$)/);
	});
});
