import { createPairFrame } from "../../ports/rpc/envelope.ts";
import type { Update } from "./wire-updates.ts";

/** Characters of text above which a line is serialized normally, in pieces. */
const longText = 65_536;

/** The line of a text chunk, the same in every protocol version; null for other updates. */
export type UpdateLines = (update: Update) => string | null;

type ChunkName = "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk";

export function createUpdateLines(sessionId: string): UpdateLines {
	const frame = (sessionUpdate: ChunkName) =>
		createPairFrame("session/update", (text, messageId) => {
			const update: Update = { sessionUpdate, content: { type: "text", text }, messageId };
			return { sessionId, update };
		});
	const frames: Readonly<Record<ChunkName, ReturnType<typeof frame>>> = {
		user_message_chunk: frame("user_message_chunk"),
		agent_message_chunk: frame("agent_message_chunk"),
		agent_thought_chunk: frame("agent_thought_chunk"),
	};
	return (update) => {
		switch (update.sessionUpdate) {
			case "user_message_chunk":
			case "agent_message_chunk":
			case "agent_thought_chunk": {
				const { content, messageId } = update;
				if (content.type !== "text" || messageId === undefined || content.text.length > longText) return null;
				return frames[update.sessionUpdate](content.text, messageId);
			}
			default:
				return null;
		}
	};
}
