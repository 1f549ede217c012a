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

export function isRequestType(type: string): boolean {
	return isMessageType(type) && messageDeclarations[type].kind === "request";
}
