// Events in the public protocol's form, as on the wire and in the page.
import type { AgentEvent, EventBody } from "../../api/values/event.ts";

/** An event with its origin and the members of its body. */
export type PublicEvent = Omit<AgentEvent, "body" | "isFromLog"> & EventBody;

export function toPublicEvent({ body, isFromLog: _, ...origin }: AgentEvent): PublicEvent {
	return { ...origin, ...body };
}
