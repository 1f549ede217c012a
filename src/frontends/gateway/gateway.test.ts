import { connect } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GatewayClient, isEvent } from "../../../test/support/gateway/gateway-client.ts";
import type { Answer, Sending } from "../../../test/support/gateway/gateway-requests.ts";
import { control, createGateway } from "../../../test/support/gateway/gateway-subject.ts";
import { connectSocket } from "../../../test/support/gateway/socket-client.ts";
import { tokenCheckSpan } from "./access/token-watch.ts";
import { methodNames, methods } from "./protocol.ts";
import { heartbeat } from "./streams/event-stream.ts";

const json = { "content-type": "application/json" };

describe("POST /rpc", () => {
	it("creates a session, runs a turn and lists it", async () => {
		const { client } = await createGateway();
		expect(await client.result("server.info")).toEqual({
			name: "agentwire",
			version: "1.2.3",
			protocol: 1,
			scope: "control",
		});
		const sessionId = await client.createSession({ labels: { team: "a" }, mode: "yolo" });
		expect(await client.result("session.snapshot", { sessionId })).toMatchObject({
			sessionId,
			workDir: "/work",
			approvesEverything: true,
			turnId: null,
		});
		const stream = await client.stream(`sessions=${sessionId}`);
		const { turnId } = await client.result("turn.start", { sessionId, input: "text: hello" });
		const ended = await stream.until(isEvent("turn.ended"));
		expect(ended.data).toMatchObject({ sessionId, turnId, outcome: { status: "finished" } });
		const { result } = (await client.call("sessions.loaded")) as { result: unknown };
		expect(result).toEqual([expect.objectContaining({ id: sessionId, isRunning: false, labels: { team: "a" } })]);
	});

	it("has every method answered for a session that there is not", async () => {
		const { client } = await createGateway();
		const params: Readonly<Record<string, object>> = {
			"sessions.rename": { title: "x" },
			"background-task.stop": { id: "t" },
			"files.find": { query: "" },
			"files.diff": { id: "t", path: "a" },
			"files.plan": { before: "t" },
			"files.restore": { before: "t" },
			"session.rewind": { before: "t" },
			"queue.add": { input: "x" },
			"queue.change": { id: "q", input: "x" },
			"queue.remove": { id: "q" },
			"queue.send": { id: "q" },
			"turn.start": { input: "x" },
			"turn.steer": { input: "x" },
			"turn-options.set": { options: {} },
			"context.add": { text: "x", name: null },
			"session.change-mcp-servers": { change: { kind: "remove", name: "x" } },
			"side-question.cancel": { id: "q" },
			"mode.set": { mode: "plan" },
			"model.set": { model: "m", thinking: null },
			"side-question.start": { question: "?" },
			"interaction.respond": { interactionId: "i", answer: { kind: "approval", decision: "approve" } },
		};
		const onSessions = methodNames.filter(
			(name) => "entries" in methods[name].params && "sessionId" in methods[name].params.entries,
		);
		expect(onSessions.length).toBeGreaterThan(10);
		for (const name of onSessions) {
			// To delete what there is not is no failure, in this dialect as in the kernel.
			if (name === "sessions.delete") continue;
			const answer = await client.call(name, { sessionId: "nobody", ...params[name] });
			expect(answer, name).toMatchObject({ error: { code: -32018, data: { code: "session-not-found" } } });
		}
	});

	it.each<[string, unknown, string]>([
		["sessions.create", { workdir: "/work" }, "sessions.create takes no member 'workdir'."],
		["turn.start", { sessionId: "s" }, "turn.start needs 'input'."],
		["turn.start", { sessionId: 1, input: "x" }, "turn.start cannot take the value of 'sessionId'; expected string."],
		["turn.start", [], "turn.start takes an object."],
		["sessions.create", { workDir: "/nowhere" }, "/nowhere"],
		["sessions.create", { model: "none" }, "none"],
	])("says what is wrong with the params of %s", async (name, params, text) => {
		const { client } = await createGateway();
		expect(await client.call(name, params)).toMatchObject({ error: { message: expect.stringContaining(text) } });
	});

	it.each<[string, string | Buffer, number, number]>([
		["no JSON", "{", 400, -32700],
		["bytes that are no text", Buffer.from([0xff, 0xfe, 0x00]), 400, -32700],
		["deep nesting", "[".repeat(100_000), 400, -32700],
		["a list", '[{"jsonrpc":"2.0","id":1,"method":"server.info"}]', 400, -32600],
		["no id", '{"jsonrpc":"2.0","method":"server.info"}', 400, -32600],
		["another version", '{"jsonrpc":"1.0","id":1,"method":"server.info"}', 400, -32600],
		["no method", '{"jsonrpc":"2.0","id":1}', 400, -32600],
		["an unknown method", '{"jsonrpc":"2.0","id":1,"method":"constructor"}', 200, -32601],
	])("answers %s", async (_name, body, status, code) => {
		const { client } = await createGateway();
		const answer = await client.send({ method: "POST", path: "/rpc", headers: json, body });
		expect(answer).toMatchObject({ status, body: { error: { code } } });
	});

	it("starts a turn once for one key", async () => {
		const { client } = await createGateway();
		const sessionId = await client.createSession();
		const params = { sessionId, input: "text: once" };
		const first = await client.result("turn.start", params, { "idempotency-key": "k" });
		expect(await client.result("turn.start", params, { "idempotency-key": "k" })).toEqual(first);
		expect(
			await client.call("turn.start", { ...params, input: "text: other" }, { "idempotency-key": "k" }),
		).toMatchObject({
			error: { data: { code: "invalid-input" } },
		});
		expect(await client.call("turn.start", params, { "idempotency-key": "k".repeat(201) })).toMatchObject({
			error: { data: { code: "invalid-input" } },
		});
	});

	it("keeps the keys of different tokens apart", async () => {
		const { client, valid, port } = await createGateway();
		const other = "d".repeat(64);
		valid.set(other, "control");
		const second = new GatewayClient(port, other);
		const key = { "idempotency-key": "k" };
		const created = await client.result("sessions.create", {}, key);
		expect((await second.result("sessions.create", {}, key))["sessionId"]).not.toBe(created["sessionId"]);
		expect(await client.result("sessions.create", {}, key)).toEqual(created);
	});

	it("lets a token that observes only look", async () => {
		const { client, watcher } = await createGateway();
		const sessionId = await client.createSession();
		for (const name of methodNames) {
			const answer = (await watcher.call(name, { sessionId, scope: "control" })) as { error?: { code: number } };
			expect(answer.error?.code === -32003, name).toBe(methods[name].scope === "control");
		}
		expect(await watcher.send({ method: "POST", path: "/interactions/i", headers: json, body: "{}" })).toMatchObject({
			status: 403,
		});
	});
});

describe("a request that is refused", () => {
	const rows: readonly (readonly [name: string, sending: Sending, status: number])[] = [
		["without a token", { authorization: null }, 401],
		["with a wrong token", { authorization: `Bearer ${"x".repeat(64)}` }, 401],
		["for another host", { headers: { host: "evil.test" } }, 421],
		["of another origin", { headers: { origin: "http://evil.test" } }, 403],
		["of another site", { headers: { "sec-fetch-site": "cross-site" } }, 403],
		[
			"that asks whether it may come from elsewhere",
			{
				method: "OPTIONS",
				path: "/rpc",
				authorization: null,
				headers: { origin: "http://evil.test", "access-control-request-method": "POST" },
			},
			403,
		],
		["for no path", { path: "/nothing" }, 404],
		["for a file", { path: "/../../etc/passwd" }, 404],
		["with another method", { method: "PUT", path: "/rpc" }, 405],
		["for events by POST without a session", { method: "POST", path: "/events", headers: json, body: "{}" }, 400],
		["for events by PUT", { method: "PUT", path: "/events", headers: json, body: "{}" }, 405],
		[
			"as a form of a web page would send it",
			{ method: "POST", path: "/rpc", headers: { "content-type": "text/plain" }, body: "{}" },
			415,
		],
		["without a type", { method: "POST", path: "/rpc", body: "{}" }, 415],
		["compressed", { method: "POST", path: "/rpc", headers: { ...json, "content-encoding": "gzip" }, body: "x" }, 415],
		[
			"that says that it is too large",
			{ method: "POST", path: "/rpc", headers: { ...json, "content-length": "33554433" } },
			413,
		],
		["for events of nothing", { path: "/events" }, 400],
		["with a broken encoding", { path: "/sessions/%E0%A4%A/history" }, 400],
		["for the history of nobody", { path: "/sessions/nobody/history" }, 404],
	];
	it.each(rows)("%s", async (_name, sending, status) => {
		const { client } = await createGateway();
		const answer = await client.send(sending);
		expect(answer.status).toBe(status);
		expectHeaders(answer);
	});

	it("without a token learns nothing of what there is", async () => {
		const { client } = await createGateway();
		const answers = await Promise.all(
			["/", "/rpc", "/events", "/nothing", "/sessions/x/history"].map((path) =>
				client.send({ path, authorization: null }),
			),
		);
		expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1);
	});

	it("does not keep the others from being served", async () => {
		const { client, port } = await createGateway();
		for (const bytes of [
			"GET / HTTP/1.1\r\n\r\n",
			"\0\0\0\0",
			"GET /rpc HTTP/9.9\r\n\r\n",
			`GET /${"a".repeat(100_000)} HTTP/1.1\r\n\r\n`,
		]) {
			const socket = connect(port, "127.0.0.1");
			socket.on("error", () => {});
			socket.resume();
			const closed = new Promise((resolve) => socket.once("close", resolve));
			socket.write(bytes);
			// Also with an error: what was not read of a request that was refused resets the connection.
			await closed;
		}
		expect(await client.result("server.info")).toMatchObject({ name: "agentwire" });
	});
});

describe("whatever is sent", () => {
	const part = fc.oneof(
		fc.string(),
		fc.constantFrom("jsonrpc", "2.0", "method", "params", "sessionId", "input", ...methodNames),
	);
	const anyJson = fc.jsonValue({ maxDepth: 4 });
	const body = fc.oneof(
		fc.string(),
		anyJson.map((value) => JSON.stringify(value)),
		fc
			.record({ id: anyJson, method: part, params: fc.oneof(anyJson, fc.dictionary(part, anyJson)) })
			.map((message) => JSON.stringify({ jsonrpc: "2.0", ...message })),
	);
	const segment = fc.oneof(
		fc.constantFrom("rpc", "events", "sessions", "history", "interactions", "..", "%", "%00", "a@b:1"),
		fc.webSegment(),
	);
	const path = fc
		.tuple(fc.array(segment, { maxLength: 4 }), fc.webQueryParameters())
		.map(([segments, query]) => `/${segments.join("/")}?${query}`);

	it("is answered, with no error of ours", async () => {
		const { client } = await createGateway();
		const sending = fc.record({
			method: fc.constantFrom("GET", "POST", "PUT", "DELETE", "HEAD"),
			path: fc.oneof(path, fc.constant("/rpc")),
			body,
		});
		await fc.assert(
			fc.asyncProperty(sending, async (request) => {
				const isStream = request.method === "GET" && /^\/events\?.*sessions=[^&]/.test(request.path);
				if (isStream) return;
				const { status, body: answer } = await client.send({ ...request, headers: json });
				expect(status).not.toBe(500);
				expect(JSON.stringify(answer)).not.toContain("-32603");
			}),
			{ numRuns: 400, seed: 7 },
		);
		expect(await client.result("server.info")).toMatchObject({ name: "agentwire" });
	});
});

/** No page of another site can read the answer, or show it. */
function expectHeaders({ headers }: Answer): void {
	expect(headers).toMatchObject({
		"x-content-type-options": "nosniff",
		"referrer-policy": "no-referrer",
		"cross-origin-resource-policy": "same-origin",
		"cache-control": "no-store",
	});
	expect(headers["content-security-policy"]).toContain("default-src 'none'");
	expect(Object.keys(headers).filter((name) => name.startsWith("access-control-"))).toEqual([]);
	expect(headers["set-cookie"]).toBeUndefined();
}

describe("GET /events", () => {
	it("continues after the last event that a client had, without loss and without repetition", async () => {
		const { client } = await createGateway();
		const sessionId = await client.createSession();
		const first = await client.stream(`sessions=${sessionId}`);
		await client.result("turn.start", { sessionId, input: "text: one" });
		const seen = await first.until(isEvent("step.started"));
		first.close();
		const second = await client.stream(`sessions=${sessionId}`, { "last-event-id": seen.id ?? "" });
		const { data: end } = await second.until(isEvent("turn.ended"));
		await client.result("turn.start", { sessionId, input: "text: two" });
		await second.until(({ data }) => data["type"] === "turn.ended" && Number(data["seq"]) > Number(end["seq"]));
		const numbers = second.messages.filter(({ name }) => name === "e").map(({ data }) => data["seq"]);
		expect(numbers).toEqual(numbers.map((_, index) => Number(seen.data["seq"]) + 1 + index));
		const history = await client.send({ path: `/sessions/${sessionId}/history?limit=1000` });
		const stored = (history.body as { events: { seq: number }[] }).events;
		expect(stored.map(({ seq }) => seq)).toEqual(stored.map((_, index) => index + 1));
		expect(stored.slice(Number(seen.data["seq"]))).toEqual(
			second.messages.filter(({ name }) => name === "e").map(({ data }) => data),
		);
	});

	it("says that a history is another one, and gives all of it", async () => {
		const { client } = await createGateway();
		const sessionId = await client.createSession();
		const stream = await client.stream(`sessions=${sessionId}`);
		await client.result("turn.start", { sessionId, input: "text: one" });
		await stream.until(isEvent("turn.ended"));
		const other = await client.stream(`sessions=${sessionId}@another:3`);
		await other.until(isEvent("turn.ended"));
		const ofSession = other.messages.filter(({ name }) => name !== "queue");
		const names = ofSession.map(({ name, data }) => (name === "e" ? data["seq"] : name));
		expect(names.slice(0, 3)).toEqual(["state", "reset", 1]);
	});

	it("carries several sessions, and says which of them there is not", async () => {
		const { client } = await createGateway();
		const ids = [await client.createSession(), await client.createSession()];
		const stream = await client.stream(`sessions=${ids.join()},nobody`);
		const failed = await stream.until(({ name }) => name === "failed");
		expect(failed.data).toMatchObject({ sessionId: "nobody", error: { data: { code: "session-not-found" } } });
		for (const sessionId of ids) {
			await client.result("turn.start", { sessionId, input: "text: x" });
			await stream.until(({ data }) => data["type"] === "turn.ended" && data["sessionId"] === sessionId);
		}
	});

	it("leaves out the pieces of texts where a client wants whole ones", async () => {
		const { client } = await createGateway();
		const sessionId = await client.createSession();
		const [whole, pieces] = await Promise.all(
			["block", "delta"].map((grade) => client.stream(`sessions=${sessionId}&grade=${grade}`)),
		);
		await client.result("turn.start", { sessionId, input: "text: hello\ntext: there" });
		await whole?.until(isEvent("turn.ended"));
		await pieces?.until(isEvent("turn.ended"));
		expect(whole?.messages.some(isEvent("content.delta"))).toBe(false);
		expect(whole?.messages.some(isEvent("content.completed"))).toBe(true);
		expect(pieces?.messages.filter(isEvent("content.delta")).length).toBe(1);
	});

	it("shows who else is there", async () => {
		const { client } = await createGateway();
		const sessionId = await client.createSession();
		const first = await client.stream(`sessions=${sessionId}&client=desk`);
		await first.until(({ name }) => name === "state");
		const second = await client.stream(`sessions=${sessionId}&client=phone`);
		const state = await second.until(({ name }) => name === "state");
		expect(state.data["snapshot"]).toMatchObject({ clients: [{ name: "desk" }] });
		expect((await first.until(isEvent("client.attached"))).data).toMatchObject({ name: "phone" });
		second.close();
		expect((await first.until(isEvent("client.detached"))).data).toMatchObject({ name: "phone" });
	});

	it("ends with the token that it was opened with", async () => {
		const { client, clock, valid } = await createGateway();
		const sessionId = await client.createSession();
		const stream = await client.stream(`sessions=${sessionId}`);
		await stream.until(({ name }) => name === "state");
		valid.delete(control);
		clock.advance(tokenCheckSpan);
		await stream.ended;
		expect((await client.send({ path: "/events" })).status).toBe(401);
	});

	it("gives a sign of life", async () => {
		const { client, clock } = await createGateway();
		const sessionId = await client.createSession();
		const stream = await client.stream(`sessions=${sessionId}`);
		await stream.until(({ name }) => name === "state");
		clock.advance(heartbeat);
		await client.result("turn.start", { sessionId, input: "text: x" });
		await stream.until(isEvent("turn.ended"));
		expect(stream.comments).toEqual(["ping"]);
	});

	it("does not wait for a client that does not read, which misses no stored event", async () => {
		const { client } = await createGateway();
		const sessionId = await client.createSession();
		const [stalled, reader] = await Promise.all([1, 2].map(() => client.stream(`sessions=${sessionId}`)));
		stalled?.pause();
		const long = "y".repeat(200_000);
		for (let turn = 0; turn < 40; turn += 1) {
			const { turnId } = await client.result("turn.start", { sessionId, input: `text: ${long}` });
			await reader?.until(({ data }) => data["type"] === "turn.ended" && data["turnId"] === turnId);
		}
		const last = reader?.messages.filter(({ name }) => name === "e").at(-1)?.data["seq"];
		stalled?.resume();
		await stalled?.until(({ data }) => data["seq"] === last);
		const numbers = stalled?.messages.filter(({ name }) => name === "e").map(({ data }) => data["seq"]);
		expect(numbers).toEqual(Array.from({ length: Number(last) }, (_, index) => index + 1));
	});

	it("ends when the gateway does", async () => {
		const { client, gateway, host, port } = await createGateway();
		const sessionId = await client.createSession();
		const stream = await client.stream(`sessions=${sessionId}`);
		await stream.until(({ name }) => name === "state");
		await host.stop();
		await gateway.close();
		await stream.ended;
		const connected = () =>
			new Promise((resolve) => {
				const socket = connect(port, "127.0.0.1", () => resolve("connected"));
				socket.on("error", ({ message }) => resolve(message));
				socket.on("connect", () => socket.destroy());
			});
		// A process that another test of this process forks has a copy of the listening socket until it executes its program.
		await expect.poll(connected).toContain("ECONNREFUSED");
	});
});

describe("turn.start with files", () => {
	it("shows the model a text behind the input, which the session has", async () => {
		const { client } = await createGateway();
		const sessionId = await client.createSession();
		const stream = await client.stream(`sessions=${sessionId}`);
		const file = { name: "a.txt", type: "text/plain", data: Buffer.from("content").toString("base64") };
		await client.result("turn.start", { sessionId, input: "text: x", files: [file] });
		const started = await stream.until(isEvent("turn.started"));
		expect(started.data["input"]).toEqual([
			{ type: "text", text: "text: x" },
			{ type: "text", text: '<file name="a.txt">\ncontent\n</file>' },
		]);
		await stream.until(isEvent("turn.ended"));
		for (const [method, files, text] of [
			["turn.start", [{ ...file, data: "?" }], 'The content of "a.txt" is not base64.'],
			["turn.steer", [{ ...file, data: "?" }], 'The content of "a.txt" is not base64.'],
			["turn.start", [{ ...file, path: "/etc/passwd" }], "takes no member 'files.0.path'"],
		] as const) {
			expect(await client.call(method, { sessionId, input: "x", files })).toMatchObject({
				error: { data: { code: "invalid-input" }, message: expect.stringContaining(text) },
			});
		}
	});
});

describe("sessions.rename", () => {
	it("gives a session a title, which lists and every client have", async () => {
		const { client, port } = await createGateway();
		const sessionId = await client.createSession();
		const stream = await client.stream(`sessions=${sessionId}`);
		await stream.until(({ name }) => name === "state");
		const editor = await connectSocket(port, "/acp", control);
		await editor.request("i", "initialize", { protocolVersion: 1 });
		await editor.request("l", "session/load", { sessionId, cwd: "/work", mcpServers: [] });
		expect(await client.result("sessions.rename", { sessionId, title: " The\n plan " })).toEqual({ title: "The plan" });
		const renamed = await stream.until(isEvent("title.changed"));
		expect(renamed).toMatchObject({ name: "e", data: { title: "The plan", seq: 1 } });
		const update = await editor.until((message) => JSON.stringify(message).includes("session_info_update"));
		expect(update).toMatchObject({ params: { sessionId, update: { title: "The plan" } } });
		const { turnId } = await client.result("turn.start", { sessionId, input: "text: another title" });
		await stream.until(({ data }) => data["type"] === "turn.ended" && data["turnId"] === turnId);
		expect(await client.result("sessions.list")).toMatchObject({ sessions: [{ id: sessionId, title: "The plan" }] });
		expect(await client.result("session.snapshot", { sessionId })).toMatchObject({ title: "The plan" });
		expect(await client.call("sessions.rename", { sessionId, title: "x".repeat(201) })).toMatchObject({
			error: { data: { code: "invalid-input" }, message: "A title can have at most 200 characters." },
		});
	});

	it("names an archived session too", async () => {
		const { client } = await createGateway();
		const sessionId = await client.createSession();
		const stream = await client.stream(`sessions=${sessionId}`);
		await client.result("turn.start", { sessionId, input: "text: x" });
		await stream.until(isEvent("turn.ended"));
		await client.call("sessions.archive", { sessionId });
		expect(await client.result("sessions.rename", { sessionId, title: "Old" })).toEqual({ title: "Old" });
	});
});

describe("sessions.fork", () => {
	it("makes a session with the same conversation, which goes on by itself", async () => {
		const { client } = await createGateway();
		const sessionId = await client.createSession();
		const stream = await client.stream(`sessions=${sessionId}`);
		await client.result("turn.start", { sessionId, input: "text: one" });
		await stream.until(isEvent("turn.ended"));
		const fork = String((await client.result("sessions.fork", { sessionId }))["sessionId"]);
		expect(fork).not.toBe(sessionId);
		const textsOf = async (id: string) => {
			const { body } = await client.send({ path: `/sessions/${id}/history` });
			return (body as { events: { type: string; part?: { text: string } }[] }).events.flatMap(({ type, part }) =>
				type === "content.completed" && part !== undefined ? [part.text] : [],
			);
		};
		expect(await textsOf(fork)).toEqual(await textsOf(sessionId));
		const followed = await client.stream(`sessions=${fork}`);
		await client.result("turn.start", { sessionId: fork, input: "text: two" });
		const ended = await followed.until(isEvent("turn.ended"));
		expect(ended.data["sessionId"]).toBe(fork);
		expect(await textsOf(sessionId)).toHaveLength(1);
		expect(await client.call("sessions.fork", { sessionId, messages: 99 })).toMatchObject({
			error: { data: { code: "invalid-input" } },
		});
	});
});

describe("GET /sessions/{id}/history", () => {
	it("goes back page by page", async () => {
		const { client, watcher } = await createGateway();
		const sessionId = await client.createSession();
		const stream = await client.stream(`sessions=${sessionId}`);
		await client.result("turn.start", { sessionId, input: "text: one" });
		const ended = await stream.until(isEvent("turn.ended"));
		const found: unknown[] = [];
		let before: number | null = null;
		do {
			const path = `/sessions/${sessionId}/history?limit=2${before === null ? "" : `&before=${before}`}`;
			const { body } = await watcher.send({ path });
			const page = body as { events: { seq: number }[]; before: number | null };
			expect(page.events.length).toBeLessThanOrEqual(2);
			found.unshift(...page.events.map(({ seq }) => seq));
			before = page.before;
		} while (before !== null);
		expect(found).toEqual(Array.from({ length: Number(ended.data["seq"]) }, (_, index) => index + 1));
	});
});
