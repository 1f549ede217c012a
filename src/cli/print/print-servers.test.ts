import { expect, it } from "vitest";
import type { AgentEvent, McpStatus } from "../../api/values/event.ts";
import { statusChanged } from "../../api/values/event.ts";
import { createServerNotes } from "./print-servers.ts";

const event = (
	loading: boolean,
	...servers: readonly (readonly [string, McpStatus["servers"][number]["status"]])[]
) => {
	const status: McpStatus = {
		...{ loading, connected: 0, total: servers.length, tools: 0 },
		servers: servers.map(([name, each]) => ({ name, status: each, tools: [] })),
	};
	const body = statusChanged({ mcp_status: status });
	return { sessionId: "s", turnId: "t", agentPath: [], at: 0, body } satisfies AgentEvent;
};

it("a server that cannot be used is named once, with what to do", () => {
	const notes = createServerNotes("/usr/bin/agentwire", "/share");
	expect(notes(event(true, ["files", "connecting"], ["web", "unauthorized"]))).toEqual([]);
	const settled = event(
		false,
		["files", "failed"],
		["web", "unauthorized"],
		["good", "connected"],
		["\u001b", "failed"],
	);
	expect(notes(settled)).toEqual([
		'The MCP server "files" cannot be used, and its tools are missing: it did not start, or does not answer. /share/logs/agentwire.log has the reason.',
		'The MCP server "web" cannot be used, and its tools are missing: nobody has signed in to it. Run: agentwire mcp auth web',
		expect.stringContaining('The MCP server "\\u001b" cannot be used'),
	]);
	expect(notes(settled)).toEqual([]);
	expect(notes({ ...settled, body: { type: "step.started", n: 1 } })).toEqual([]);
});

it("a server that is still connecting when the turn stops waiting is named once", () => {
	const notes = createServerNotes("/usr/bin/agentwire", "/share");
	const line = 'The MCP server "slow" is still connecting, and its tools are missing until then.';
	expect(notes(event(true, ["slow", "connecting"]))).toEqual([]);
	expect(notes(event(false, ["slow", "connecting"], ["good", "connected"]))).toEqual([line]);
	expect(notes(event(false, ["slow", "connecting"]))).toEqual([]);
});
