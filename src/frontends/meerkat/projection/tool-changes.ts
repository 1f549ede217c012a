import type { MeerkatEvent } from "../wire/wire-events.ts";

export interface StagedServer {
	readonly operation: "add" | "reload";
	readonly name: string;
}

/** Reports that the session lacks a tool that the client registered; the log says why. */
export function toRefusedTool(name: string): MeerkatEvent {
	return toToolChange({ operation: "add", name: `callback:${name}` }, false);
}

/** `phase` is null before the next turn, else whether the server is connected. */
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
