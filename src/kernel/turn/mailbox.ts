// Mailbox for the one message per step that an agent may send to its own past (agent-kernel §5.6).
import type { Mail, Mailbox } from "../../core/agent/dependencies.ts";
import type { MailOperations } from "../../core/tools/operations.ts";
import type { Tool } from "../../core/tools/tool.ts";
import { mailToolName } from "../../core/tools/tool-paths.ts";

export interface OpenMailbox extends Mailbox, MailOperations {
	/** Accepts messages from now on. Valid checkpoint ids are below `checkpointCount()`. */
	open(checkpointCount: () => number): void;
}

/** The mailbox for an agent with these tools; null if none of them sends mail. */
export function mailboxOf(tools: readonly Tool[], mailbox: OpenMailbox): OpenMailbox | null {
	return tools.some(({ name }) => name === mailToolName) ? mailbox : null;
}

/** Has no checkpoints until opened: an agent's tools exist before its context. */
export function createMailbox(): OpenMailbox {
	let waiting: Mail | null = null;
	let checkpointCount = () => 0;
	return {
		open(count) {
			checkpointCount = count;
		},
		send(message, checkpoint) {
			if (waiting !== null) return "already-sent";
			if (checkpoint >= checkpointCount()) return "no-such-checkpoint";
			waiting = { message, checkpoint };
			return "sent";
		},
		take() {
			const taken = waiting;
			waiting = null;
			return taken;
		},
	};
}
