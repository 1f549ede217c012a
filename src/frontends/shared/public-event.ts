import type { AgentEvent, EventBody } from "../../api/values/event.ts";

export type PublicEvent = Omit<AgentEvent, "body" | "isFromLog"> & EventBody;

export function toPublicEvent({ body, isFromLog: _, ...origin }: AgentEvent): PublicEvent {
	return { ...origin, ...body };
}
