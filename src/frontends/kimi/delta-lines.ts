// The lines of deltas, which are nearly all that a turn sends: each differs from the one before in its text alone.
import { textPart } from "../../api/values/content.ts";
import type { AgentEvent, EventBody } from "../../api/values/event.ts";
import { createTextFrame } from "../../ports/rpc/envelope.ts";
import { type Audience, toDelivered } from "./older-clients.ts";

/** Characters of a text above which its line is made like any other, in pieces. */
const longText = 65_536;

/** The line for a delta of the session's own agent; null for every other event, and for a delta that has no line of its kind. */
export type DeltaLines = (event: AgentEvent) => string | null;

/** The lines are those that `project` leads to for this audience. */
export function createDeltaLines(audience: Audience): DeltaLines {
	const frame = (toBody: (text: string) => EventBody): ((text: string) => string | null) => {
		const toParams = (text: string) => toDelivered({ body: toBody(text), agentPath: [] }, audience);
		if (toParams("") === null) return () => null;
		const toLine = createTextFrame("event", toParams);
		return (text) => (text.length > longText ? null : toLine(text));
	};
	const ofText = frame((text) => ({ type: "content.delta", part: textPart(text) }));
	const ofThinking = frame((think) => ({ type: "content.delta", part: { type: "think", think, encrypted: null } }));
	const ofArguments = frame((text) => ({ type: "tool-call.delta", arguments_part: text }));
	return ({ body, agentPath }) => {
		if (agentPath.length > 0) return null;
		if (body.type === "tool-call.delta") return body.arguments_part === null ? null : ofArguments(body.arguments_part);
		if (body.type !== "content.delta") return null;
		const { part } = body;
		if (part.type === "text") return ofText(part.text);
		return part.type === "think" && part.encrypted === null ? ofThinking(part.think) : null;
	};
}
