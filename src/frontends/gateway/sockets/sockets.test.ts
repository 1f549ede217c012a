import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { isEvent } from "../../../../test/support/gateway/gateway-client.ts";
import { openGateway } from "../../../../test/support/gateway/gateway-place.ts";
import { control, createGateway, observe } from "../../../../test/support/gateway/gateway-subject.ts";
import { connectSocket, type Message, RefusedSocketError } from "../../../../test/support/gateway/socket-client.ts";
import { tokenCheckSpan } from "../access/token-watch.ts";
import { closeCodes, messageLimit, socketBeat, socketLimit } from "./sockets.ts";

const statusOf = (work: Promise<unknown>): Promise<number> =>
	work.then(
		() => 101,
		(thrown: unknown) => (thrown instanceof RefusedSocketError ? thrown.status : Promise.reject(thrown)),
	);

const bearer = (token: string) => [`agentwire.bearer.${token}`];
const isUpdate = (kind: string) => (message: Message) => JSON.stringify(message).includes(`"sessionUpdate":"${kind}"`);
const isMessage = (type: string) => (message: Message) => JSON.stringify(message).includes(`"type":"${type}"`);

describe("a WebSocket", () => {
	it.each<[string, string, { protocols?: string[]; headers?: Record<string, string> }, number]>([
		["with the token as a subprotocol", "/acp", {}, 101],
		["with the token as a subprotocol alone", "/acp", { protocols: bearer(control) }, 101],
		["with the token in the header", "/acp", { protocols: [], headers: { authorization: `Bearer ${control}` } }, 101],
		["of this server's own page", "/acp", { headers: { "sec-fetch-site": "same-origin" } }, 101],
		["without a token", "/acp", { protocols: [] }, 401],
		["with a wrong token", "/acp", { protocols: bearer("x".repeat(64)) }, 401],
		["with the token in the address", `/acp?token=${control}`, { protocols: [] }, 401],
		["with parameters", `/acp?token=${control}`, {}, 400],
		["for another host", "/acp", { headers: { host: "evil.test" } }, 421],
		["of another origin", "/acp", { headers: { origin: "http://evil.test" } }, 403],
		["of another origin, which is no web page", "/acp", { headers: { origin: "null" } }, 403],
		["of another site", "/acp", { headers: { "sec-fetch-site": "cross-site" } }, 403],
		["with a token that observes", "/acp", { protocols: bearer(observe) }, 403],
		["with a token that observes, for one session", "/wire?session=s", { protocols: bearer(observe) }, 403],
		["for no path", "/nothing", {}, 404],
		["for events", "/events", {}, 404],
		["for no session", "/wire", {}, 400],
		["for two sessions", "/wire?session=a&session=b", {}, 400],
		["for a session that there is not", "/wire?session=nobody", {}, 404],
		["for a broken name", "/wire?session=%E0%A4%A", {}, 400],
	])("%s", async (_name, path, options, status) => {
		const { port } = await createGateway();
		expect(await statusOf(connectSocket(port, path, control, options))).toBe(status);
	});

	it("is not answered with the token where the client offered another name", async () => {
		const { port } = await createGateway();
		expect((await connectSocket(port, "/acp", control)).socket.protocol).toBe("agentwire");
	});

	it("is needed at its paths, and no other protocol is spoken", async () => {
		const { client, port } = await createGateway();
		for (const path of ["/acp", "/wire?session=s"]) expect(await client.send({ path })).toMatchObject({ status: 426 });
		const socket = connect(port, "127.0.0.1");
		socket.write(
			`GET /acp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${control}\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n`,
		);
		const [answer] = await once(socket, "data");
		expect(String(answer)).toMatch(/^HTTP\/1\.1 426 /);
		expect(String(answer)).toContain("x-content-type-options: nosniff");
	});

	it("without a token says nothing of what there is", async () => {
		const { port } = await createGateway();
		const paths = ["/acp", "/wire?session=s", "/nothing"];
		const statuses = paths.map((path) => statusOf(connectSocket(port, path, control, { protocols: [] })));
		expect(await Promise.all(statuses)).toEqual([401, 401, 401]);
	});

	it("is refused beyond the number that may be open", async () => {
		const { port } = await createGateway();
		const open = await Promise.all(Array.from({ length: socketLimit }, () => connectSocket(port, "/acp", control)));
		expect(await statusOf(connectSocket(port, "/acp", control))).toBe(503);
		open[0]?.socket.close();
		await open[0]?.closed;
		await expect.poll(() => statusOf(connectSocket(port, "/acp", control))).toBe(101);
	});

	it("ends with a message that is too long, or no text", async () => {
		const { port } = await createGateway();
		const long = await connectSocket(port, "/acp", control);
		long.socket.send("x".repeat(messageLimit + 1));
		expect((await long.closed).code).toBe(1009);
		const binary = await connectSocket(port, "/acp", control);
		binary.socket.send(Buffer.from("{}"));
		expect((await binary.closed).code).toBe(closeCodes.notText);
	});

	it("ends with a code of its own when serving it fails", async () => {
		const { port, close } = await openGateway({}, async () => {
			throw new Error("a fault");
		});
		onTestFinished(close);
		expect((await (await connectSocket(port, "/acp", control)).closed).code).toBe(closeCodes.failed);
	});

	it("ends with its token", async () => {
		const { port, valid, clock } = await createGateway();
		const { closed, request } = await connectSocket(port, "/acp", control);
		await request("i", "initialize", { protocolVersion: 1 });
		valid.delete(control);
		clock.advance(tokenCheckSpan);
		expect((await closed).code).toBe(closeCodes.revoked);
	});

	it("ends when the gateway does, which says so", async () => {
		const { port, gateway, host } = await createGateway();
		const { closed, request } = await connectSocket(port, "/acp", control);
		await request("i", "initialize", { protocolVersion: 1 });
		await host.stop();
		await gateway.close();
		expect((await closed).code).toBe(closeCodes.stopping);
	});

	it("is cut when there is no sign of life, and stays while there is one", async () => {
		const { port, clock } = await createGateway();
		const alive = await connectSocket(port, "/acp", control);
		const dead = await connectSocket(port, "/acp", control);
		await Promise.all([alive, dead].map(({ request }) => request("i", "initialize", { protocolVersion: 1 })));
		dead.socket.pause();
		for (let beat = 0; beat < 4; beat += 1) {
			const pinged = once(alive.socket, "ping");
			clock.advance(socketBeat);
			await pinged;
			// The answer to it is there by the next one.
			await alive.request(`beat-${beat}`, "session/list");
		}
		dead.socket.resume();
		expect((await dead.closed).code).toBe(closeCodes.silent);
		expect(await alive.request("still", "session/list")).toMatchObject({ result: { sessions: [] } });
	});

	it("answers what is no message, and goes on", async () => {
		const { port } = await createGateway();
		const client = await connectSocket(port, "/acp", control);
		for (const text of ["{", "[]", "", "\n", "[".repeat(10_000), '{"jsonrpc":"2.0","id":1}']) client.socket.send(text);
		client.socket.send('{"jsonrpc":"2.0",\n"id":"lines",\n"method":"session/list","params":{}}');
		expect(await client.until(({ id }) => id === "lines")).toMatchObject({ result: { sessions: [] } });
		expect(client.messages.filter(({ error }) => error !== undefined).length).toBeGreaterThan(3);
	});
});

describe("the Agent Client Protocol over a socket", () => {
	it("shares its sessions with the other clients, and leaves them when it is cut in the middle", async () => {
		const { port, client, host } = await createGateway();
		const editor = await connectSocket(port, "/acp", control);
		await editor.request("i", "initialize", { protocolVersion: 1 });
		const created = await editor.request("n", "session/new", { cwd: "/work", mcpServers: [] });
		const { sessionId } = created["result"] as { sessionId: string };
		const stream = await client.stream(`sessions=${sessionId}&role=observe`);
		await stream.until(({ name }) => name === "state");
		const prompt = [{ type: "text", text: "text: hello" }];
		expect(await editor.request("p", "session/prompt", { sessionId, prompt })).toMatchObject({
			result: { stopReason: "end_turn" },
		});
		expect(editor.messages.some(isUpdate("agent_message_chunk"))).toBe(true);
		await stream.until(isEvent("turn.ended"));
		editor.socket.terminate();
		await stream.until(isEvent("client.detached"));
		// Nothing holds it any more but the stream.
		stream.close();
		await expect.poll(async () => (await host.loaded()).length).toBe(1);
		await host.unload(sessionId);
		await expect
			.poll(async () => {
				await host.unload(sessionId);
				return (await host.loaded()).length;
			})
			.toBe(0);
	});

	it("loads what another client has begun", async () => {
		const { port, client } = await createGateway();
		const sessionId = await client.createSession();
		const stream = await client.stream(`sessions=${sessionId}`);
		await client.result("turn.start", { sessionId, input: "text: from the gateway" });
		await stream.until(isEvent("turn.ended"));
		const editor = await connectSocket(port, "/acp", control);
		await editor.request("i", "initialize", { protocolVersion: 1 });
		await editor.request("l", "session/load", { sessionId, cwd: "/work", mcpServers: [] });
		expect(JSON.stringify(editor.messages)).toContain("from the gateway");
	});
});

describe("Kimi Wire over a socket", () => {
	it("speaks for one session, which others watch", async () => {
		const { port, client } = await createGateway();
		const sessionId = await client.createSession();
		const stream = await client.stream(`sessions=${sessionId}`);
		await stream.until(({ name }) => name === "state");
		const wire = await connectSocket(port, `/wire?session=${sessionId}`, control);
		const wireClient = { name: "test", version: "1" };
		const shaken = await wire.request("i", "initialize", { protocol_version: "1.9", client: wireClient });
		expect(shaken).toMatchObject({ result: { server: { name: "agentwire" } } });
		expect(await wire.request("p", "prompt", { user_input: "text: hello" })).toMatchObject({
			result: { status: "finished" },
		});
		for (const type of ["TurnBegin", "ContentPart", "TurnEnd"]) {
			expect(wire.messages.some(isMessage(type)), type).toBe(true);
		}
		await stream.until(isEvent("turn.ended"));
		// A turn that another client has begun is shown as well.
		const before = wire.messages.length;
		await client.result("turn.start", { sessionId, input: "text: other" });
		await wire.until((message) => wire.messages.indexOf(message) >= before && isMessage("TurnEnd")(message));
		wire.socket.terminate();
		expect((await stream.until(isEvent("client.detached"))).data).toMatchObject({ name: "test" });
		await client.result("turn.start", { sessionId, input: "text: alone" });
		await stream.until(({ data }) => JSON.stringify(data).includes("alone"));
	});
});
