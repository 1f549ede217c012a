// Events in the form of this protocol, on the wire as in the page.
import type { AgentEvent, EventBody } from "../../api/values/event.ts";

/** An event as clients of the gateway receive it: its origin, and the members of its body. */
export type GatewayEvent = Omit<AgentEvent, "body" | "isFromLog"> & EventBody;

export function toGatewayEvent({ body, isFromLog: _, ...origin }: AgentEvent): GatewayEvent {
	return { ...origin, ...body };
}
