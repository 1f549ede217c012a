// Events in the form of this protocol, on the wire as in the page.
import type { AgentEvent, EventBody } from "../../api/values/event.ts";

/** An event as clients of the gateway receive it: its origin, and the members of its body. */
export type PublicEvent = Omit<AgentEvent, "body" | "isFromLog"> & EventBody;

export function toPublicEvent({ body, isFromLog: _, ...origin }: AgentEvent): PublicEvent {
	return { ...origin, ...body };
}
