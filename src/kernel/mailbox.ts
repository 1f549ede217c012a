// The one message that an agent may send back to itself in a step (agent-kernel §5.6).
import type { Mail, Mailbox } from "../agent/dependencies.ts";
import type { MailOperations } from "../tools/operations.ts";
import type { Tool } from "../tools/tool.ts";
import { mailToolName } from "../tools/tool-paths.ts";

export interface OpenMailbox extends Mailbox, MailOperations {}

/** The mailbox for an agent with these tools: null when none of them sends mail. */
export function mailboxOf(tools: readonly Tool[], mailbox: Mailbox): Mailbox | null {
	return tools.some(({ name }) => name === mailToolName) ? mailbox : null;
}

/** `checkpointCount` says how many checkpoints there are now: their ids are those below it. */
export function createMailbox(checkpointCount: () => number): OpenMailbox {
	let waiting: Mail | null = null;
	return {
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
