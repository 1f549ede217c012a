// Hooks of a session that are requests to a server on loopback, over the built executable.
import { existsSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import path from "node:path";
import { json } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";
import { createStage, toolCall } from "../support/executable/executable.ts";
import { lastOf } from "../support/executable/running-server.ts";
import { type Answer, startOrigin } from "../support/host/web-servers.ts";
import { ask, end, eventsOf, serve } from "../support/meerkat/meerkat-lines.ts";

type Payload = Readonly<Record<string, unknown>>;

const point = "pre_tool_execution";
const denial = { reason_code: "policy_violation", message: "not this", payload: { rule: 7 } };

/** A run that makes one call, before which the hook is asked. */
async function run(answer: Answer, entry: object = {}, runtime: object = {}) {
	const origin = await startOrigin(answer);
	onTestFinished(() => origin.close());
	const stage = createStage({ scripts: [toolCall("c1", "WriteFile", { path: "made", content: "x" }), "text: done"] });
	const server = serve(stage);
	await ask(server, "capabilities", "capabilities/get", {});
	const request = { type: "http", url: `http://127.0.0.1:${origin.port}/hook`, ...runtime };
	const hook = { id: "guard", point, capability: "guardrail", runtime: request, ...entry };
	const params = { prompt: "go", hooks_override: { entries: [hook] } };
	const lines = await ask(server, "create", "session/create", params);
	await end(server);
	const payloads = eventsOf(lines).map(({ payload }) => payload as Payload);
	return {
		/** What was requested, in order. */
		requests: origin.requests.map(({ method, path: place }) => `${method} ${place}`),
		hooks: payloads.filter(({ hook_id: id }) => id === "guard"),
		results: payloads.filter(({ type }) => type === "tool_execution_completed"),
		last: lastOf([...lines]),
		isMade: existsSync(path.join(stage.workDir, "made")),
	};
}

const answering =
	(value: object): Answer =>
	(_request, response) =>
		response.end(JSON.stringify(value));

it("one that allows gets the call and its headers, and the call is made", async () => {
	const asked: { readonly headers: IncomingHttpHeaders; readonly body: unknown }[] = [];
	const answer: Answer = async (request, response) => {
		asked.push({ headers: request.headers, body: await json(request) });
		response.end('{"decision":{"decision":"allow"}}');
	};
	const { requests, hooks, last, isMade } = await run(answer, {}, { method: "PUT", headers: { "X-Key": "k" } });
	expect(requests).toEqual(["PUT /hook"]);
	expect(asked).toMatchObject([
		{
			headers: { "content-type": "application/json", "x-key": "k" },
			body: {
				point,
				session_id: expect.any(String),
				turn_number: 0,
				tool_call: { tool_use_id: "c1", name: "WriteFile", args: { path: "made", content: "x" } },
			},
		},
	]);
	expect(hooks.map(({ type }) => type)).toEqual(["hook_started", "hook_completed"]);
	expect(last.result).toMatchObject({ text: "done" });
	expect(isMade).toBe(true);
});

it("one that denies keeps the call from being made, and the run goes on", async () => {
	const { hooks, results, last, isMade } = await run(
		answering({ decision: { decision: "deny", hook_id: "guard", ...denial } }),
	);
	expect(hooks.map(({ type }) => type)).toEqual(["hook_started", "hook_completed", "hook_denied"]);
	expect(hooks.at(-1)).toMatchObject(denial);
	expect(JSON.parse(String(results[0]?.["result"]))).toMatchObject({
		error: "hook_denied",
		data: { hook_id: "guard", point, reason_code: denial.reason_code, payload: denial.payload },
	});
	expect(last.result).toMatchObject({ text: "done" });
	expect(isMade).toBe(false);
});

const silent: Answer = () => {};
const redirecting =
	(status: number): Answer =>
	({ url }, response) =>
		url === "/hook" ? response.writeHead(status, { location: "/elsewhere" }).end() : response.end("{}");
const failing = (message: string) => ({ reason_code: "execution_failed", message: expect.stringContaining(message) });

it.each<[string, Answer, object, object?]>([
	["answers with status 500", (_request, response) => response.writeHead(500).end("{}"), failing("status 500")],
	["takes too long", silent, { reason_code: "timeout", timeout_ms: 300 }, { timeout_ms: 300 }],
	["redirects, which would be a request without the call", redirecting(302), failing("status 302")],
	["redirects, which would give the call to an address of its choice", redirecting(307), failing("status 307")],
])("one that %s fails the run before the call, unless it fails open", async (_what, answer, reason, entry = {}) => {
	const closed = await run(answer, entry);
	expect(closed.requests).toEqual(["POST /hook"]);
	expect(closed.hooks.map(({ type }) => type)).toEqual(["hook_started", "hook_failed"]);
	expect(closed.hooks.at(-1)).toMatchObject({ reason });
	expect(closed.last.error).toMatchObject({ data: { code: "INTERNAL_ERROR", error: { kind: "hook_failure" } } });
	expect(closed.isMade).toBe(false);

	const open = await run(answer, { ...entry, failure_policy: "fail_open" });
	expect(open.hooks.at(-1)).toMatchObject({ type: "hook_failed", reason });
	expect(open.last.result).toMatchObject({ text: "done" });
	expect(open.isMade).toBe(true);
});
