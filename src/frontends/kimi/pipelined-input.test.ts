// What a client may send without waiting, and what that must not mix up (wire-protocol §1.6, §2.1).
import { describe, expect, it } from "vitest";
import { createCampaignServer, nextTurn } from "../../../test/support/sessions/campaign-server.ts";
import { compileJsonSchema } from "../../core/tools/json-schema.ts";

const tool = { name: "ClientTool", description: "", parameters: { type: "object" } };

async function readUntil(read: () => Promise<string | null>, id: string): Promise<string[]> {
	const kinds: string[] = [];
	for (let line = await read(); line !== null; line = await read()) {
		const message = JSON.parse(line);
		kinds.push(message.params?.type ?? message.id);
		if (message.method === undefined && message.id === id) break;
	}
	return kinds;
}

function line(id: string, method: string, params: object): string {
	return `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;
}

describe("Kimi Wire with pipelined input", () => {
	it("refuses a replay until the end of a turn was sent", async () => {
		const server = await createCampaignServer({ outboxLimit: 100 });
		server.gate.open();
		server.client.pause();
		server.client.write(line("p", "prompt", { user_input: "hi" }));
		for (let turn = 0; turn < 20; turn += 1) await nextTurn();
		expect(server.session.turnId).toBeNull();
		server.client.write(line("r", "replay", {}));
		for (let turn = 0; turn < 20; turn += 1) await nextTurn();
		server.client.resume();
		const kinds = await readUntil(() => server.client.read(), "p");
		expect(kinds.filter((kind) => kind !== "r")).toEqual([
			"TurnBegin",
			"StepBegin",
			"ContentPart",
			"StatusUpdate",
			"TurnEnd",
			"p",
		]);
		await server.close();
	});

	it("answers a handshake with tools before the prompt that follows it, and cancels that prompt", async () => {
		await compileJsonSchema(tool.parameters);
		const server = await createCampaignServer();
		server.client.write(
			line("i", "initialize", { protocol_version: "1.7", external_tools: [tool] }) +
				line("p", "prompt", { user_input: "hi" }) +
				line("c", "cancel", {}),
		);
		const kinds = await readUntil(() => server.client.read(), "p");
		expect(kinds).toEqual(["i", "c", "TurnBegin", "TurnEnd", "p"]);
		await server.close();
	});

	it("counts the tools of repeated handshakes together, and those of the same name once", async () => {
		const server = await createCampaignServer();
		const initialize = async (from: number, count: number) => {
			const tools = Array.from({ length: count }, (_, n) => ({ ...tool, name: `T${from + n}` }));
			server.client.write(line("i", "initialize", { protocol_version: "1.7", external_tools: tools }));
			return JSON.parse((await server.client.read()) ?? "null").result.external_tools;
		};
		expect((await initialize(0, 600)).accepted).toHaveLength(600);
		expect((await initialize(0, 600)).accepted).toHaveLength(600);
		const { accepted, rejected } = await initialize(600, 401);
		expect(accepted).toHaveLength(400);
		expect(rejected).toEqual([{ name: "T1000", reason: "more than 1000 tools" }]);
		await server.close();
	});
});
