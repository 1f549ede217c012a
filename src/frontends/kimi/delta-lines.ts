// Fast serialization of deltas, which are nearly all messages of a turn: consecutive ones differ only in their text.
import { textPart } from "../../api/values/content.ts";
import type { AgentEvent, EventBody } from "../../api/values/event.ts";
import { createTextFrame } from "../../ports/rpc/envelope.ts";
import { type Audience, toDelivered } from "./older-clients.ts";

/** Characters of text above which a line is serialized normally, in pieces. */
const longText = 65_536;

/** The line for a delta of the main agent; null for other events, and for deltas without a fast path. */
export type DeltaLines = (event: AgentEvent) => string | null;

/** The lines match the output of `project` for this audience. */
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
