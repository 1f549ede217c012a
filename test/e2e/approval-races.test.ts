// Clients of different protocols that answer the same approval at the same moment, over sockets: one of them decides, what is done
// is what that one said, and everybody learns it.
import { existsSync } from "node:fs";
import path from "node:path";
import * as acp from "@agentclientprotocol/sdk";
import { createWebSocketStream } from "@agentclientprotocol/sdk/experimental/ws-client";
import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { createDeferred, type Deferred } from "../../src/base/deferred.ts";
import { createStage, toolCall } from "../support/executable/executable.ts";
import { GatewayClient, isEvent } from "../support/gateway/gateway-client.ts";
import { connectSocket } from "../support/gateway/socket-client.ts";
import { readTokens } from "../support/gateway/token-file.ts";

const rounds = 24;
const answerers = ["editor", "wire", "desk", "phone"] as const;
type Answerer = (typeof answerers)[number];

const at = (round: number) => `made-${round}`;
/** Approves and rejects in turns, so that every pair of answers meets in some round. */
const decisionOf = (who: Answerer, round: number) =>
	((round >> answerers.indexOf(who)) & 1) === 0 ? ("approve" as const) : ("reject" as const);

describe("an approval that several clients answer at once", () => {
	it("is decided by one of them, in each of many rounds", async () => {
		const scripts = Array.from({ length: rounds }, (_, round) => [
			toolCall("c", "Shell", { command: `touch ${at(round)}` }),
			"text: done",
		]).flat();
		const stage = createStage({ scripts });
		const server = stage.serve("serve", "--json", "--port", "0");
		const [line] = await server.readUntil(() => true);
		const port = Number(new URL((line as unknown as { url: string }).url).port);
		const token = readTokens(path.join(stage.shareDir, "gateway.json")).control ?? "";
		const gateway = new GatewayClient(port, token);
		const sessionId = await gateway.createSession();
		const streams = {
			desk: await gateway.stream(`sessions=${sessionId}&client=desk`),
			phone: await gateway.stream(`sessions=${sessionId}&client=phone`),
		};
		const clientIds = await Promise.all(
			Object.values(streams).map(async (each) => (await each.until(({ name }) => name === "state")).data["clientId"]),
		);

		// The editor holds each request until all clients have theirs.
		const waiting: Deferred<acp.RequestPermissionResponse>[] = [];
		let withdrawn = createDeferred<void>();
		let arrived = createDeferred<void>();
		const { writable, readable } = createWebSocketStream(`ws://127.0.0.1:${port}/acp`, {
			protocols: ["agentwire", `agentwire.bearer.${token}`],
			WebSocket,
		});
		const { agent } = acp
			.client()
			.onNotification(acp.methods.client.session.update, () => {})
			.onRequest(acp.methods.client.session.requestPermission, ({ signal }) => {
				const asked = createDeferred<acp.RequestPermissionResponse>();
				signal.addEventListener("abort", () => withdrawn.resolve());
				waiting.push(asked);
				arrived.resolve();
				return asked.promise;
			})
			.connect({ writable, readable });
		await agent.request("initialize", { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: {} });
		await agent.request("session/load", { sessionId, cwd: stage.workDir, mcpServers: [] });
		const wire = await connectSocket(port, `/wire?session=${sessionId}`, token);
		await wire.request("i", "initialize", { protocol_version: "1.9", capabilities: {} });

		const winners: string[] = [];
		for (let round = 0; round < rounds; round++) {
			arrived = createDeferred<void>();
			withdrawn = createDeferred<void>();
			const before = streams.desk.messages.length;
			await gateway.result("turn.start", { sessionId, input: `go ${round}` });
			const later = (name: string) => (message: (typeof streams.desk.messages)[number]) =>
				isEvent(name)(message) && streams.desk.messages.indexOf(message) >= before;
			const isNext = (message: (typeof streams.desk.messages)[number]) =>
				later("interaction.requested")(message) || later("turn.ended")(message);
			const next = await streams.desk.until(isNext);
			// A rejection ends the turn, and leaves the text of its last step to the next one.
			if (isEvent("turn.ended")(next)) {
				round -= 1;
				continue;
			}
			const { interaction } = next.data as { interaction: { id: string } };
			const isThis = (text: unknown) => JSON.stringify(text).includes(interaction.id);
			await streams.phone.until(({ data }) => isThis(data));
			const asked = await wire.until(({ method, params }) => method === "request" && isThis(params));
			await arrived.promise;
			const respond = (who: "desk" | "phone", clientId: unknown) =>
				gateway.result("interaction.respond", {
					sessionId,
					interactionId: interaction.id,
					clientId,
					answer: { kind: "approval", decision: decisionOf(who, round) },
				});
			const outcomes: Promise<Record<string, unknown>>[] = [];
			const answering: Readonly<Record<Answerer, () => void>> = {
				editor: () =>
					waiting.at(-1)?.resolve({ outcome: { outcome: "selected", optionId: decisionOf("editor", round) } }),
				wire: () =>
					wire.send({ id: asked["id"], result: { request_id: interaction.id, response: decisionOf("wire", round) } }),
				desk: () => void outcomes.push(respond("desk", clientIds[0])),
				phone: () => void outcomes.push(respond("phone", clientIds[1])),
			};
			// Each of them is the first to send in some rounds. A socket is faster than a request of HTTP: in every third round
			// the sockets answer what is settled by then.
			const isLate = round % 3 === 2;
			const order = answerers.map((_, index) => answerers[(index + round) % answerers.length] ?? "desk");
			if (isLate) answering[round % 2 === 0 ? "desk" : "phone"]();
			await Promise.all(outcomes);
			// The editor is sent that nobody waits for its answer any more.
			if (isLate) await withdrawn.promise;
			for (const who of order) if (!isLate || who === "editor" || who === "wire") answering[who]();
			if (isLate) answering[round % 2 === 0 ? "phone" : "desk"]();
			const settled = await Promise.all(outcomes);
			await streams.desk.until(later("turn.ended"));
			const [resolved, ...more] = streams.desk.messages.filter(
				(message) => isEvent("interaction.resolved")(message) && isThis(message.data),
			);
			expect([resolved === undefined, more]).toEqual([false, []]);
			const { answer, by } = (resolved?.data ?? {}) as {
				answer: { decision: "approve" | "reject" };
				by: { kind: string; clientId: string; name: string | null };
			};
			expect(existsSync(path.join(stage.workDir, at(round)))).toBe(answer.decision === "approve");
			// Both learn the same winner, and at most one of them was it.
			expect(settled.map((each) => each["by"])).toEqual([by, by]);
			if (isLate) expect(settled.map((each) => each["settled"])).toEqual([true, false]);
			expect(settled.filter((each) => each["settled"] === true)).toHaveLength(clientIds.includes(by.clientId) ? 1 : 0);
			winners.push(clientIds.includes(by.clientId) ? "gateway" : "socket");
		}
		// Both kinds of clients decided.
		expect(new Set(winners)).toEqual(new Set(["gateway", "socket"]));
		expect(waiting).toHaveLength(rounds);
		server.kill("SIGTERM");
		expect(await server.exited).toBe(0);
	});
});
