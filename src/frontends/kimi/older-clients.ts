import type { ContentPart } from "../../api/values/content.ts";
import type { AgentPathEntry, EventBody } from "../../api/values/event.ts";
import { formerNameOf, nameIn, predates } from "../../formats/history.ts";
import type { Message } from "../../formats/message.ts";
import { toMessage, wrapForSubagent } from "../../formats/message-conversion.ts";
import { toMessageType } from "../../formats/message-names.ts";
import type { EventRecord } from "../../formats/record.ts";
import type { Compatibility } from "../shared/dialect.ts";

export interface Audience extends Compatibility {
	/** The version the client declared; null without a handshake. */
	readonly declared: string | null;
}

/** Content part names as listed in the Wire 1.0 document. */
export const partNames: { readonly [T in ContentPart["type"]]: string } = {
	text: "TextPart",
	think: "ThinkPart",
	image_url: "ImageURLPart",
	audio_url: "AudioURLPart",
	video_url: "VideoURLPart",
};

export function toDelivered({ body, agentPath }: EventRecord, audience: Audience): Message | null {
	const message = toMessage(body);
	const type = message === null ? null : nameFor(message.type, body, audience);
	if (message === null || type === null) return null;
	return agentPath.reduceRight<Message>((event, agent) => wrap(event, agent, audience), { ...message, type });
}

function nameFor(name: string, body: EventBody, audience: Audience): string | null {
	const type = toMessageType(name);
	if (type === null || (audience.maxEvents !== null && nameIn(audience.maxEvents, type) === null)) return null;
	if (audience.typedParts && "part" in body) return partNames[body.part.type];
	if (audience.formerNames) return formerNameOf(type) ?? type;
	return audience.maxEvents === null ? type : nameIn(audience.maxEvents, type);
}

function wrap(message: Message, agent: AgentPathEntry, audience: Audience): Message {
	const wrapped = wrapForSubagent(message, [agent]);
	// Wire 1.0 has no handshake: a client without one may be as old.
	const versions = [audience.maxEvents, audience.declared ?? "1.0"];
	const isOld = versions.some((version) => version !== null && predates(version, "SubagentEvent.parent_tool_call_id"));
	if (!isOld) return wrapped;
	return { ...wrapped, payload: { ...wrapped.payload, task_tool_call_id: agent.parentToolCallId } };
}
