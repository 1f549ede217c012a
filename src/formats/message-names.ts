// The names of messages, today's and those of earlier versions.
import { renamedTo } from "./history.ts";
import { type MessageType, messageDeclarations } from "./message.ts";

/** The current type of that name, former names included; null for an unknown name. */
export function toMessageType(name: string): MessageType | null {
	const type = renamedTo(name) ?? name;
	return isMessageType(type) ? type : null;
}

function isMessageType(type: string): type is MessageType {
	return Object.hasOwn(messageDeclarations, type);
}

/** Whether a message of this type is a request. */
export function isRequestType(type: string): boolean {
	return isMessageType(type) && messageDeclarations[type].kind === "request";
}
