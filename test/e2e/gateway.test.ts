// The gateway as a program: several clients on one session over HTTP, from its start to its end.
import { once } from "node:events";
import { appendFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { get } from "node:https";
import { createServer } from "node:net";
import path from "node:path";
import * as acp from "@agentclientprotocol/sdk";
import { createWebSocketStream } from "@agentclientprotocol/sdk/experimental/ws-client";
import { describe, expect, it, onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { createDeferred } from "../../src/base/deferred.ts";
import { createStage, type Stage, toolCall } from "../support/executable/executable.ts";
import type { Server } from "../support/executable/running-server.ts";
import { GatewayClient, isEvent } from "../support/gateway/gateway-client.ts";
import { connectSocket } from "../support/gateway/socket-client.ts";
import { readTokens } from "../support/gateway/token-file.ts";

const tokensOf = (stage: Stage) => readTokens(path.join(stage.shareDir, "gateway.json"));

/** Of `localhost`, signed by itself, and used in these tests alone. */
const certificate = `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUXc6HaWNzCZaD0FcY98XRlEa+B3YwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMzIxNDYyOFoYDzIxMjYxMDMw
MjE0NjI4WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAT/HHn56iLhnBjb8cC2uSV6tq+2FnC0GwEVLwDhPA21jLlbJnW5lrXv
c6c1oNsGvCC53UJqdFurk9zYP/6dTzeOo28wbTAdBgNVHQ4EFgQUPh8HRnQoh8ln
a877I1FmcpWZKccwHwYDVR0jBBgwFoAUPh8HRnQoh8lna877I1FmcpWZKccwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIgc40oyvhib35ufJlAwHnYY3h4w1/YGDktlLAFuIufOtcCIQDH
jWzom/3FeJJIybJM7/xKzWMNze6yNCq3XO3AufkyIA==
-----END CERTIFICATE-----
`;
const key = `-----BEGIN EC PRIVATE KEY-----
MHcCAQEEIMKDwqQV581XRftNkVzTFsHyaf99T0dE6rZ96C/wDqMPoAoGCCqGSM49
AwEHoUQDQgAE/xx5+eoi4ZwY2/HAtrkleravthZwtBsBFS8A4TwNtYy5WyZ1uZa1
73OnNaDbBrwgud1CanRbq5Pc2D/+nU83jg==
-----END EC PRIVATE KEY-----
`;

interface Started {
	readonly server: Server;
	readonly port: number;
	readonly client: GatewayClient;
}

async function startGateway(stage: Stage, ...flags: string[]): Promise<Started> {
	const server = stage.serve("serve", "--json", "--port", "0", ...flags);
	const [line] = await server.readUntil(() => true);
	const { url } = line as unknown as { url: string };
	const port = Number(new URL(url).port);
	return { server, port, client: new GatewayClient(port, tokensOf(stage).control ?? "") };
}

const stop = async ({ server }: Started) => {
	server.kill("SIGTERM");
	expect(await server.exited).toBe(0);
};

describe("agentwire serve", () => {
	it("shows two clients one session, of which one approves", async () => {
		const stage = createStage({ scripts: [toolCall("c", "Shell", { command: "touch made" }), "text: done"] });
		const started = await startGateway(stage);
		const { client } = started;
		expect(statSync(path.join(stage.shareDir, "gateway.json")).mode & 0o777).toBe(0o600);
		const sessionId = await client.createSession();
		const desk = await client.stream(`sessions=${sessionId}&client=desk`);
		const phone = await client.stream(`sessions=${sessionId}&client=phone`);
		const state = await phone.until(({ name }) => name === "state");
		await desk.until(({ name }) => name === "state");
		await client.result("turn.start", { sessionId, input: "make it" });
		const asked = await desk.until(isEvent("interaction.requested"));
		await phone.until(isEvent("interaction.requested"));
		const { interaction } = asked.data as { interaction: { id: string; description: string } };
		expect(interaction.description).toContain("touch made");
		expect(existsSync(path.join(stage.workDir, "made"))).toBe(false);
		const answer = { kind: "approval", decision: "approve" };
		const respond = (clientId: unknown) =>
			client.send({
				method: "POST",
				path: `/interactions/${interaction.id}`,
				headers: { "content-type": "application/json" },
				body: JSON.stringify({ sessionId, clientId, answer }),
			});
		expect(await respond(state.data["clientId"])).toMatchObject({ status: 200, body: { settled: true } });
		// The other one is late, and learns who was first.
		expect(await respond(undefined)).toMatchObject({
			status: 200,
			body: { settled: false, by: { kind: "client", name: "phone" } },
		});
		const resolved = await desk.until(isEvent("interaction.resolved"));
		expect(resolved.data).toMatchObject({ answer, by: { kind: "client", name: "phone" } });
		await Promise.all([desk, phone].map((each) => each.until(isEvent("turn.ended"))));
		expect(existsSync(path.join(stage.workDir, "made"))).toBe(true);
		const durable = ({ messages }: typeof desk) => messages.filter(({ name }) => name === "e").map(({ data }) => data);
		expect(durable(desk)).toEqual(durable(phone));
		await stop(started);
	});

	it("shows a client that comes later what is open", async () => {
		const stage = createStage({ scripts: [toolCall("c", "Shell", { command: "touch made" }), "text: done"] });
		const started = await startGateway(stage);
		const { client } = started;
		const sessionId = await client.createSession();
		const first = await client.stream(`sessions=${sessionId}`);
		await first.until(({ name }) => name === "state");
		await client.result("turn.start", { sessionId, input: "make it" });
		await first.until(isEvent("interaction.requested"));
		first.close();
		const second = await client.stream(`sessions=${sessionId}`);
		const state = await second.until(({ name }) => name === "state");
		const { openInteractions } = state.data["snapshot"] as { openInteractions: { interaction: { id: string } }[] };
		expect(openInteractions).toMatchObject([{ type: "interaction.requested" }]);
		const interactionId = openInteractions[0]?.interaction.id;
		const answer = { kind: "approval", decision: "reject", feedback: "not now" };
		expect(await client.result("interaction.respond", { sessionId, interactionId, answer })).toMatchObject({
			settled: true,
		});
		await second.until(isEvent("turn.ended"));
		expect(existsSync(path.join(stage.workDir, "made"))).toBe(false);
		await stop(started);
	});

	describe("while no client is there", () => {
		const question = { question: "Which color?", header: "Color", options: [{ label: "Red" }, { label: "Blue" }] };

		interface Waiting {
			readonly id: string;
			/** Of a question. */
			readonly questions?: readonly { readonly question: string }[];
		}

		/** Begins a turn that nobody follows; gives what waits for an answer in it, as a client that comes later sees it. */
		async function beginAlone({ client }: Started, begun: string | null = null) {
			const sessionId = begun ?? (await client.createSession());
			const watching = await client.stream(`sessions=${sessionId}&role=observe`);
			await watching.until(({ name }) => name === "state");
			await client.result("turn.start", { sessionId, input: "make it" });
			await watching.until(isEvent("interaction.requested"));
			watching.close();
			const later = await client.stream(`sessions=${sessionId}`);
			const state = await later.until(({ name }) => name === "state");
			later.close();
			const { openInteractions } = state.data["snapshot"] as { openInteractions: { interaction: Waiting }[] };
			expect(openInteractions).toHaveLength(1);
			const interaction = openInteractions[0]?.interaction ?? { id: "" };
			return { sessionId, interactionId: interaction.id, interaction };
		}

		it("lets an approval wait for one, also past one that left again", async () => {
			const stage = createStage({ scripts: [toolCall("c", "Shell", { command: "touch made" }), "text: done"] });
			const started = await startGateway(stage);
			const { client } = started;
			const { sessionId, interactionId } = await beginAlone(started);
			expect(existsSync(path.join(stage.workDir, "made"))).toBe(false);
			const stream = await client.stream(`sessions=${sessionId}`);
			await stream.until(({ name }) => name === "state");
			const answer = { kind: "approval", decision: "approve" };
			expect(await client.result("interaction.respond", { sessionId, interactionId, answer })).toMatchObject({
				settled: true,
			});
			await stream.until(isEvent("turn.ended"));
			expect(existsSync(path.join(stage.workDir, "made"))).toBe(true);
			await stop(started);
		});

		it("lets a question wait for one, also past one that left again", async () => {
			const stage = createStage({
				scripts: [toolCall("c", "AskUserQuestion", { questions: [question] }), "text: done"],
			});
			const started = await startGateway(stage);
			const { client } = started;
			const { sessionId, interactionId } = await beginAlone(started);
			const stream = await client.stream(`sessions=${sessionId}`);
			await stream.until(({ name }) => name === "state");
			const answer = { kind: "question", answers: { "Which color?": "Blue" } };
			expect(await client.result("interaction.respond", { sessionId, interactionId, answer })).toMatchObject({
				settled: true,
			});
			const result = await stream.until(isEvent("tool.result"));
			expect(JSON.stringify(result.data)).toContain("Blue");
			await stream.until(isEvent("turn.ended"));
			await stop(started);
		});

		it("lets a plan wait for one, also past one that left again", async () => {
			const stage = createStage({ scripts: ["text: I plan.", toolCall("c", "ExitPlanMode", {}), "text: done"] });
			const started = await startGateway(stage);
			const { client } = started;
			const sessionId = await client.createSession({ mode: "plan" });
			const first = await client.stream(`sessions=${sessionId}&role=observe`);
			await client.result("turn.start", { sessionId, input: "plan it" });
			await first.until(isEvent("turn.ended"));
			first.close();
			const state = JSON.parse(readFileSync(path.join(stage.sessionDir(sessionId), "state.json"), "utf8"));
			mkdirSync(path.join(stage.shareDir, "plans"));
			writeFileSync(path.join(stage.shareDir, "plans", `${state.plan_slug}.md`), "# The plan\n");
			const { interactionId, interaction } = await beginAlone(started, sessionId);
			expect(await client.result("session.snapshot", { sessionId })).toMatchObject({ planMode: true });
			const stream = await client.stream(`sessions=${sessionId}`);
			await stream.until(({ name }) => name === "state");
			const question = interaction.questions?.[0]?.question ?? "";
			const answer = { kind: "question", answers: { [question]: "Approve" } };
			expect(await client.result("interaction.respond", { sessionId, interactionId, answer })).toMatchObject({
				settled: true,
			});
			const result = await stream.until(isEvent("tool.result"));
			expect(JSON.stringify(result.data)).toContain("# The plan");
			await stream.until(isEvent("turn.ended"));
			expect(await client.result("session.snapshot", { sessionId })).toMatchObject({ planMode: false });
			await stop(started);
		});

		it("settles what waits when the turn is cancelled", async () => {
			const stage = createStage({ scripts: [toolCall("c", "Shell", { command: "touch made" }), "text: done"] });
			const started = await startGateway(stage);
			const { client } = started;
			const { sessionId } = await beginAlone(started);
			const stream = await client.stream(`sessions=${sessionId}`);
			await stream.until(({ name }) => name === "state");
			await client.call("turn.cancel", { sessionId });
			expect((await stream.until(isEvent("interaction.resolved"))).data).toMatchObject({ by: { kind: "cancelled" } });
			expect((await stream.until(isEvent("turn.ended"))).data).toMatchObject({ outcome: { status: "cancelled" } });
			expect(existsSync(path.join(stage.workDir, "made"))).toBe(false);
			await stop(started);
		});

		it("shows what waited when it was killed as a turn that ended there, and does not act", async () => {
			const stage = createStage({ scripts: [toolCall("c", "Shell", { command: "touch made" }), "text: done"] });
			const killed = await startGateway(stage);
			const { sessionId } = await beginAlone(killed);
			killed.server.kill("SIGKILL");
			await killed.server.exited;
			const started = await startGateway(stage);
			const { client } = started;
			const stream = await client.stream(`sessions=${sessionId}`);
			const state = await stream.until(({ name }) => name === "state");
			expect(state.data["snapshot"]).toMatchObject({ openInteractions: [] });
			// The scripted model begins anew, and so does what it asks for.
			await client.result("turn.start", { sessionId, input: "and now?" });
			await stream.until(isEvent("interaction.requested"));
			expect(existsSync(path.join(stage.workDir, "made"))).toBe(false);
			await stop(started);
		});

		it("sends the notice", async () => {
			const stage = createStage({ scripts: [toolCall("c", "Shell", { command: "touch made" }), "text: done"] });
			const noted = path.join(stage.workDir, "noted");
			const program = "require('fs').writeFileSync(process.argv[1], process.env.AGENTWIRE_NOTICE_KIND)";
			const started = await startGateway(stage, "--notify", JSON.stringify([process.execPath, "-e", program, noted]));
			await beginAlone(started);
			await expect.poll(() => existsSync(noted) && readFileSync(noted, "utf8"), { timeout: 20_000 }).toBe("approval");
			await stop(started);
		});

		it("rejects the call where the settings say so", async () => {
			const stage = createStage({ scripts: [toolCall("c", "Shell", { command: "touch made" }), "text: done"] });
			appendFileSync(path.join(stage.shareDir, "config.toml"), '\n[agentwire]\nunattended = "reject"\n');
			const started = await startGateway(stage);
			const { client } = started;
			const sessionId = await client.createSession();
			const watching = await client.stream(`sessions=${sessionId}&role=observe`);
			await watching.until(({ name }) => name === "state");
			await client.result("turn.start", { sessionId, input: "make it" });
			await watching.until(isEvent("turn.ended"));
			const { messages } = watching;
			expect(messages.some(isEvent("interaction.requested"))).toBe(false);
			expect(existsSync(path.join(stage.workDir, "made"))).toBe(false);
			await stop(started);
		});
	});

	it("goes on after it was killed in the middle of a turn, where its clients were", async () => {
		const stage = createStage({
			scripts: ["text: one", toolCall("c", "Shell", { command: "sleep 600" }), "text: done"],
		});
		const first = await startGateway(stage, "--yolo");
		const sessionId = await first.client.createSession();
		const before = await first.client.stream(`sessions=${sessionId}`);
		await first.client.result("turn.start", { sessionId, input: "one" });
		await before.until(isEvent("turn.ended"));
		await first.client.result("turn.start", { sessionId, input: "two" });
		await before.until(isEvent("tool.started"));
		const seen = before.messages.filter(({ name }) => name === "e");
		first.server.kill("SIGKILL");
		await first.server.exited;
		stage.setScripts(["text: three"]);
		const second = await startGateway(stage);
		const page = await second.client.send({ path: `/sessions/${sessionId}/history?limit=1000` });
		const { events } = page.body as { events: object[] };
		expect(events.slice(0, seen.length)).toEqual(seen.map(({ data }) => data));
		const after = await second.client.stream(`sessions=${sessionId}`, { "last-event-id": seen.at(-1)?.id ?? "" });
		await second.client.result("turn.start", { sessionId, input: "three" });
		await after.until(({ data }) => data["type"] === "content.completed" && JSON.stringify(data).includes("three"));
		const numbers = after.messages.filter(({ name }) => name === "e").map(({ data }) => Number(data["seq"]));
		expect(numbers).toEqual(numbers.map((_, index) => seen.length + 1 + index));
		await stop(second);
	});

	it("finds the sessions of other front ends, and they find its own", async () => {
		const stage = createStage({ scripts: ["text: from the wire"] });
		const wire = stage.serve("--wire");
		wire.prompt("go", "p");
		await wire.readUntil((line) => line.id === "p");
		wire.endInput();
		await wire.exited;
		const [sessionId = ""] = stage.sessionIds();
		const started = await startGateway(stage);
		const { sessions } = (await started.client.result("sessions.list")) as { sessions: object[] };
		expect(sessions).toEqual([expect.objectContaining({ id: sessionId, workDir: stage.workDir })]);
		const { body } = await started.client.send({ path: `/sessions/${sessionId}/history` });
		expect(JSON.stringify(body)).toContain("from the wire");
		await stop(started);
		const printed = await stage.run("--print", "-p", "again", "--session", sessionId);
		expect(printed.code).toBe(0);
	});

	it("replaces its tokens when asked, also those of a gateway that runs", async () => {
		const stage = createStage();
		const first = await startGateway(stage);
		const old = tokensOf(stage);
		const second = await startGateway(stage, "--new-token");
		expect(tokensOf(stage).control).not.toBe(old["control"]);
		expect(await first.client.send({ path: "/" })).toMatchObject({ status: 401 });
		expect(await new GatewayClient(first.port, tokensOf(stage).control ?? "").send({ path: "/" })).toMatchObject({
			status: 404,
		});
		await stop(first);
		await stop(second);
	});

	it("does not let the model read its tokens", async () => {
		const stage = createStage();
		const read = toolCall("c", "ReadFile", { path: path.join(stage.shareDir, "gateway.json") });
		stage.setScripts([read, "text: done"]);
		const started = await startGateway(stage, "--yolo");
		const sessionId = await started.client.createSession();
		const stream = await started.client.stream(`sessions=${sessionId}`);
		await started.client.result("turn.start", { sessionId, input: "read" });
		const result = await stream.until(isEvent("tool.result"));
		expect(JSON.stringify(result.data)).not.toContain(tokensOf(stage).control);
		expect(result.data["result"]).toMatchObject({ is_error: true });
		await stop(started);
	});

	it("serves HTTPS with a certificate", async () => {
		const stage = createStage();
		const files = { certificate: "c.pem", key: "k.pem" };
		writeFileSync(path.join(stage.workDir, files.certificate), certificate);
		writeFileSync(path.join(stage.workDir, files.key), key);
		const started = await startGateway(stage, "--tls-cert", files.certificate, "--tls-key", files.key);
		const answer = await new Promise((resolve, reject) => {
			const headers = { authorization: `Bearer ${tokensOf(stage).observe}` };
			const place = { host: "localhost", port: started.port, path: "/events", family: 4 };
			get({ ...place, ca: certificate, headers }, ({ statusCode }) => resolve(statusCode)).on("error", reject);
		});
		expect(answer).toBe(400);
		await expect(started.client.send({})).rejects.toThrow();
		await stop(started);
	});

	it.each([
		[["--host", "0.0.0.0"], 2, "--allow-remote"],
		[["--host", "::"], 2, "--allow-remote"],
		[["--host", "127.evil.test"], 2, "--allow-remote"],
		[["--port", "70000"], 2, "--port must be a number"],
		[["--tls-cert", "c.pem"], 2, "--tls-key together"],
		[["--tls-cert", "c.pem", "--tls-key", "k.pem"], 2, "c.pem"],
		[["--allow-host", "https://agent.example.org"], 2, "just a host name or address"],
		[["--allow-host", "*.example.org"], 2, "just a host name or address"],
		[["--allow-host", "2001:db8::1"], 2, "[2001:db8::1]"],
		[["--host", "nobody.invalid", "--allow-remote", "--port", "0"], 1, "this name does not resolve"],
		[["--session", "x"], 2, "--session"],
		[["--wire"], 2, "--wire"],
		[["more"], 2, "'more'"],
		[["--host", "192.0.2.1", "--allow-remote", "--port", "0"], 1, "does not have that address"],
	])("says what is wrong with %j", async (flags, code, text) => {
		const stage = createStage();
		const ended = await stage.run("serve", ...flags);
		expect(ended.stdout).toBe("");
		expect(ended.stderr).toContain(text);
		expect(ended.code).toBe(code);
	});

	it("is reached by the addresses of this machine where it listens on all of them, and shows one of those", async () => {
		const stage = createStage();
		const server = stage.serve("serve", "--json", "--port", "0", "--host", "0.0.0.0", "--allow-remote");
		const [line] = await server.readUntil(() => true);
		const { url } = line as unknown as { url: string };
		expect(new URL(url).hostname).not.toBe("0.0.0.0");
		const { port, host } = new URL(url);
		const headers = { authorization: `Bearer ${tokensOf(stage).control}` };
		for (const place of [host, `127.0.0.1:${port}`, `localhost:${port}`]) {
			expect((await fetch(`http://${place}/events`, { headers })).status, place).toBe(400);
		}
		server.kill("SIGTERM");
		expect(await server.exited).toBe(0);
	});

	it("shows the name with its port that was given, where it listens on all addresses", async () => {
		const free = createServer().listen(0, "127.0.0.1");
		await once(free, "listening");
		const address = free.address();
		const port = address === null || typeof address === "string" ? 0 : address.port;
		await new Promise((resolve) => free.close(resolve));
		const flags = ["--port", `${port}`, "--host", "0.0.0.0", "--allow-remote", "--allow-host", `localhost:${port}`];
		const server = createStage().serve("serve", "--json", ...flags);
		const [line] = await server.readUntil(() => true);
		expect(line).toMatchObject({ url: `http://localhost:${port}` });
		server.kill("SIGTERM");
		expect(await server.exited).toBe(0);
	});

	it("takes localhost for the loopback interface", async () => {
		const stage = createStage();
		const started = await startGateway(stage, "--host", "localhost");
		expect(await started.client.call("sessions.list", {})).toMatchObject({ result: { sessions: [] } });
		await stop(started);
	});

	it("says that a port is in use", async () => {
		const other = createServer();
		await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
		onTestFinished(() => void other.close());
		const address = other.address();
		const port = address === null || typeof address === "string" ? 0 : address.port;
		const ended = await createStage().run("serve", "--port", `${port}`);
		expect(ended.stderr).toContain(`Port ${port} of 127.0.0.1 is in use`);
		expect(ended.code).toBe(1);
	});

	it("does not start with tokens that others may read", async () => {
		const stage = createStage();
		const file = path.join(stage.shareDir, "gateway.json");
		writeFileSync(file, '{"tokens":[]}', { mode: 0o644 });
		const ended = await stage.run("serve", "--port", "0");
		expect(ended.stderr).toContain(`chmod 600 ${file}`);
		expect(ended.code).toBe(1);
	});
});

describe("agentwire serve --notify", () => {
	it("starts a program when an approval waits, without a shell", async () => {
		const stage = createStage({ scripts: [toolCall("c", "Shell", { command: "touch made" }), "text: done"] });
		const noted = path.join(stage.workDir, "noted");
		const program =
			"require('fs').writeFileSync(process.argv[1], require('fs').readFileSync(0) + process.env.AGENTWIRE_NOTICE_KIND)";
		const started = await startGateway(stage, "--notify", JSON.stringify([process.execPath, "-e", program, noted]));
		const { client } = started;
		const sessionId = await client.createSession();
		const stream = await client.stream(`sessions=${sessionId}`);
		await stream.until(({ name }) => name === "state");
		await client.result("turn.start", { sessionId, input: "make it" });
		await stream.until(isEvent("interaction.requested"));
		await expect
			.poll(() => existsSync(noted) && readFileSync(noted, "utf8"), { timeout: 20_000 })
			.toMatch(/\napproval$/);
		const notice: unknown = JSON.parse(readFileSync(noted, "utf8").split("\n")[0] ?? "");
		expect(notice).toMatchObject({
			kind: "approval",
			sessionId,
			workDir: stage.workDir,
			text: expect.stringContaining("touch made"),
		});
		await stop(started);
	});

	it("says what is wrong with a list", async () => {
		const server = createStage().serve("serve", "--port", "0", "--notify", "[1]");
		expect(await server.exited).toBe(2);
	});

	it("does not start with a program that there is not", async () => {
		const { code, stderr } = await createStage().run("serve", "--port", "0", "--notify", "no-such-program");
		expect([code, stderr]).toEqual([2, expect.stringContaining("--notify names a program that was not found")]);
	});
});

describe("a WebSocket", () => {
	it("serves the official client of the Agent Client Protocol, whose turn goes on when it is cut", async () => {
		const stage = createStage({ scripts: [toolCall("c", "Shell", { command: "touch made" }), "text: done"] });
		const started = await startGateway(stage);
		const messages: unknown[] = [];
		const connect = (decide: () => Promise<acp.RequestPermissionResponse>) => {
			const { writable, readable } = createWebSocketStream(`ws://127.0.0.1:${started.port}/acp`, {
				protocols: ["agentwire", `agentwire.bearer.${tokensOf(stage).control}`],
				WebSocket,
			});
			const { agent } = acp
				.client()
				.onNotification(acp.methods.client.session.update, ({ params }) => void messages.push(params.update))
				.onRequest(acp.methods.client.session.requestPermission, decide)
				.connect({ writable, readable });
			return { agent, cut: () => writable.abort() };
		};
		const asked = createDeferred<void>();
		const first = connect(() => {
			asked.resolve();
			return new Promise(() => {});
		});
		const shake = { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: {} };
		expect(await first.agent.request("initialize", shake)).toMatchObject({ agentInfo: { name: "agentwire" } });
		const place: acp.NewSessionRequest = { cwd: stage.workDir, mcpServers: [] };
		const { sessionId } = await first.agent.request("session/new", place);
		const prompt = [{ type: "text", text: "make it" } as const];
		const lost = first.agent.request("session/prompt", { sessionId, prompt }).catch(() => "lost");
		await asked.promise;
		const watching = await started.client.stream(`sessions=${sessionId}&role=observe`);
		await watching.until(({ name }) => name === "state");
		await first.cut();
		await watching.until(isEvent("client.detached"));
		expect(await lost).toBe("lost");
		// What waited for an answer waits for the next client.
		expect(existsSync(path.join(stage.workDir, "made"))).toBe(false);
		const second = connect(async () => ({ outcome: { outcome: "selected", optionId: "approve" } }));
		await second.agent.request("initialize", shake);
		await second.agent.request("session/load", { sessionId, ...place });
		await watching.until(isEvent("turn.ended"));
		expect(existsSync(path.join(stage.workDir, "made"))).toBe(true);
		expect(JSON.stringify(messages)).toContain("touch made");
		await stop(started);
	});

	it("speaks Kimi Wire for one session, which asks its client for an approval", async () => {
		const stage = createStage({ scripts: [toolCall("c", "Shell", { command: "touch made" }), "text: done"] });
		const started = await startGateway(stage);
		const sessionId = await started.client.createSession();
		const wire = await connectSocket(started.port, `/wire?session=${sessionId}`, tokensOf(stage).control ?? "");
		await wire.request("i", "initialize", { protocol_version: "1.9", capabilities: { supports_question: true } });
		wire.send({ id: "p", method: "prompt", params: { user_input: "make it" } });
		const asked = await wire.until(({ method }) => method === "request");
		const { payload } = asked["params"] as { payload: { id: string } };
		wire.send({ id: asked["id"], result: { request_id: payload.id, response: "approve" } });
		expect(await wire.until(({ id, method }) => id === "p" && method === undefined)).toMatchObject({
			result: { status: "finished" },
		});
		expect(existsSync(path.join(stage.workDir, "made"))).toBe(true);
		await stop(started);
		expect((await wire.closed).code).toBe(1001);
	});
});
