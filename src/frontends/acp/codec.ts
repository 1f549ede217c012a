// How what a session sends looks in a version of the protocol. The rest of the dialect speaks in the shapes of version 1.
import type { AgentEvent } from "../../api/values/event.ts";
import type { PermissionRequest, Update } from "./wire-updates.ts";

/** Of one session on one connection: it may depend on what was sent before. */
export interface Codec {
	/** Whether a client shows its own prompt only when the agent sends it. */
	readonly echoesPrompts: boolean;
	/** What is sent for an event with these updates. */
	encodeEvent(event: AgentEvent, updates: readonly Update[]): readonly object[];
	/** What is sent for an update without an event. */
	encode(update: Update): readonly object[];
	/** The params of `session/request_permission`. */
	encodePermission(request: PermissionRequest): object;
	/** What says whether a turn runs, as of now. */
	encodeState(state: "running" | "requires_action" | "idle"): readonly object[];
}

/** Version 1: what is sent is what the rest of the dialect speaks in. */
export const plainCodec: Codec = {
	echoesPrompts: false,
	encodeEvent: (_event, updates) => updates,
	encode: (update) => [update],
	encodePermission: (request) => request,
	encodeState: () => [],
};
