import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { type AgentEvent, type EventBody, statusChanged } from "../../events/event.ts";
import { Projection } from "./projection.ts";
import { clientCapabilitiesSchema } from "./wire.ts";

const eventOf = (body: EventBody): AgentEvent => ({
	...{ sessionId: "s", turnId: "t", at: 0, agentPath: [], durability: "volatile" },
	body,
});

const away = statusChanged({
	mcp_status: {
		...{ loading: false, connected: 0, total: 1, tools: 0 },
		servers: [{ name: "files", status: "failed", tools: [] }],
	},
});

function project(session: object) {
	const client = v.parse(clientCapabilitiesSchema, { session });
	return new Projection({ workDir: "/work", client, isOwnInput: () => true, price: () => null });
}

describe("an MCP server that cannot be used", () => {
	it("is a notice for a client that shows notices, once", () => {
		const projection = project({ notices: {} });
		expect(projection.take(eventOf(away))).toMatchObject([
			{ sessionUpdate: "notice", severity: "warning", title: 'The MCP server "files" cannot be used' },
		]);
		expect(projection.take(eventOf(away))).toEqual([]);
	});

	it("is a message for any other client", () => {
		const [update] = project({}).take(eventOf(away));
		expect(update).toMatchObject({ sessionUpdate: "agent_message_chunk", messageId: "mcp-server-files" });
	});

	it("is nothing while a history is sent", () => {
		const projection = project({ notices: {} });
		projection.isReplay = true;
		expect(projection.take(eventOf(away))).toEqual([]);
	});
});
