// What a client hears of the MCP servers that it changed.
import type { MeerkatEvent } from "../wire/wire-events.ts";

/** A server that the client changed, until the client knows what came of it. */
export interface StagedServer {
	readonly operation: "add" | "reload";
	readonly name: string;
}

/** Says that a session does without a tool which the client has registered; the log says why. */
export function toRefusedTool(name: string): MeerkatEvent {
	return toToolChange({ operation: "add", name: `callback:${name}` }, false);
}

/** Says that the tools of a session change; `phase` is null before its next turn, else whether the server is there. */
export function toToolChange({ operation, name }: StagedServer, isConnected: boolean | null): MeerkatEvent {
	const phase = isConnected === null ? "pending" : isConnected ? "applied" : "failed";
	return {
		type: "tool_config_changed",
		payload: {
			operation,
			target: name,
			status_info: { kind: "external_tool_delta", phase },
			settled: isConnected !== null,
		},
	};
}
