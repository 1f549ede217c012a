// Events as a session gives them to those who follow it.
import type { AgentEvent, EventBody } from "../../../src/api/values/event.ts";

/** An event of a turn, of the session's own agent. */
export const turnEvent = (body: EventBody, more: Partial<AgentEvent> = {}): AgentEvent => ({
	sessionId: "s",
	turnId: "t",
	agentPath: [],
	at: 1,
	body,
	...more,
});
