// Notes on stderr about unavailable MCP servers: the answer is created without their tools and does not mention it.
import path from "node:path";
import type { AgentEvent, McpStatus } from "../../api/values/event.ts";
import { ServerReports } from "../../api/values/server-reports.ts";
import { logFile } from "../../host/log/log-file.ts";
import { quoted } from "../printable-text.ts";

export function createServerNotes(executable: string, shareDir: string): (event: AgentEvent) => readonly string[] {
	const reports = new ServerReports();
	const waiting = new Set<string>();
	const program = path.basename(executable);
	return ({ body }) => {
		if (body.type !== "status.changed" || body.mcp_status === null || body.mcp_status.loading) return [];
		const { servers } = body.mcp_status;
		const late = servers.filter(({ name, status }) => isConnecting(status) && !waiting.has(name));
		for (const { name } of late) waiting.add(name);
		const unusable = reports.take(body.mcp_status).map(({ name, status }) => {
			const missing = `The MCP server ${quoted(name)} cannot be used, and its tools are missing`;
			return status === "failed"
				? `${missing}: it did not start, or does not answer. ${logFile(shareDir)} has the reason.`
				: `${missing}: nobody has signed in to it. Run: ${program} mcp auth ${name}`;
		});
		return [
			...late.map(
				({ name }) => `The MCP server ${quoted(name)} is still connecting, and its tools are missing until then.`,
			),
			...unusable,
		];
	};
}

function isConnecting(status: McpStatus["servers"][number]["status"]): boolean {
	return status === "connecting" || status === "pending";
}
