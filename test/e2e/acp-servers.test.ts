// MCP servers that an editor names by their addresses: published ones, over both transports, with headers.
import { type IncomingHttpHeaders, request } from "node:http";
import type * as acp from "@agentclientprotocol/sdk";
import { expect, it, onTestFinished } from "vitest";
import { connectAcp, type Update } from "../support/executable/acp-client.ts";
import { createStage, toolCall } from "../support/executable/executable.ts";
import { startOrigin } from "../support/host/web-servers.ts";
import { serveEverything } from "../support/mcp/mcp-stage.ts";

const secret = { name: "X-Api-Key", value: "k-1" };

/** Hands every request that has the secret on to the server at a port; refuses the others. */
async function startGate(port: number) {
	const seen: IncomingHttpHeaders[] = [];
	const gate = await startOrigin((incoming, response) => {
		const { method = "GET", url = "/", headers } = incoming;
		seen.push(headers);
		if (headers["x-api-key"] !== secret.value) {
			response.writeHead(401).end();
			return;
		}
		const onward = request({ host: "127.0.0.1", port, method, path: url, headers }, (answer) => {
			response.writeHead(answer.statusCode ?? 502, answer.headers).flushHeaders();
			answer.pipe(response);
		});
		onward.on("error", () => response.destroy());
		response.on("close", () => onward.destroy());
		incoming.pipe(onward);
	});
	onTestFinished(() => gate.close());
	return { seen, port: gate.port };
}

const isEndOfCall = (update: Update) =>
	update.sessionUpdate === "tool_call_update" && (update.status === "completed" || update.status === "failed");

/** A turn that calls two tools of the server at a port: the first is permitted, the second is not. */
async function prompt(type: "http" | "sse", port: number, headers: readonly acp.HttpHeader[]) {
	const sum = toolCall("c1", "get-sum", { a: 2, b: 3 });
	const echo = toolCall("c2", "echo", { message: "refused" });
	const stage = createStage({ scripts: [sum, echo, "text: done"] });
	const answers = ["approve"];
	const client = connectAcp(stage, {
		decide: () => ({ outcome: "selected", optionId: answers.shift() ?? "reject" }),
	});
	await client.initialize();
	const url = `http://127.0.0.1:${port}/${type === "sse" ? "sse" : "mcp"}`;
	const server = { type, name: "web", url, headers: [...headers] };
	const sessionId = await client.open(stage.workDir, [server]);
	expect(await client.prompt(sessionId, "go")).toBe("end_turn");
	const ended = client.updates(sessionId).filter(isEndOfCall);
	return { client, ended };
}

const transports = [
	["http", "streamableHttp"],
	["sse", "sse"],
] as const;

it.each(transports)(
	"a server of type %s gets its headers, and is called when the person permits it",
	async (type, transport) => {
		const { seen, port } = await startGate((await serveEverything(transport)).port);
		const { client, ended } = await prompt(type, port, [secret]);
		expect(client.permissions.map(({ toolCall: asked }) => [asked.title, asked.rawInput])).toEqual([
			["get-sum", { a: 2, b: 3 }],
			["echo", { message: "refused" }],
		]);
		expect(ended).toMatchObject([
			{ status: "completed", content: [{ content: { text: "The sum of 2 and 3 is 5." } }] },
			{ status: "failed", content: [{ content: { text: expect.stringContaining("rejected by the user") } }] },
		]);
		client.endInput();
		expect(await client.exited).toBe(0);
		expect(new Set(seen.map((headers) => headers["x-api-key"]))).toEqual(new Set([secret.value]));
	},
);

it.each(transports)(
	"a server of type %s that lacks its headers costs nothing but its tools",
	async (type, transport) => {
		const { seen, port } = await startGate((await serveEverything(transport)).port);
		const { client, ended } = await prompt(type, port, []);
		expect(client.permissions).toEqual([]);
		expect(ended).toMatchObject([{ status: "failed" }, { status: "failed" }]);
		expect(seen.length).toBeGreaterThan(0);
	},
);
