// Encodes session output for a protocol version. The rest of the dialect uses version 1 shapes.
import type { AgentEvent } from "../../api/values/event.ts";
import type { PermissionRequest, Update } from "./wire-updates.ts";

/** For one session on one connection; may depend on earlier messages. */
export interface Codec {
	readonly echoesPrompts: boolean;
	encodeEvent(event: AgentEvent, updates: readonly Update[]): readonly object[];
	/** Encodes an update without an event. */
	encode(update: Update): readonly object[];
	encodePermission(request: PermissionRequest): object;
	encodeState(state: "running" | "requires_action" | "idle"): readonly object[];
}

/** Version 1: sent unchanged. */
export const plainCodec: Codec = {
	echoesPrompts: false,
	encodeEvent: (_event, updates) => updates,
	encode: (update) => [update],
	encodePermission: (request) => request,
	encodeState: () => [],
};
