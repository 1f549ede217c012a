// What a client of this campaign has of a session, wherever the session is: an adapter for each way to reach it.
import type { Command, CommandType, CommandValues } from "../../../src/events/command.ts";
import type { AgentEvent, Cursor } from "../../../src/events/event.ts";
import type { Attachment, AttachOptions, SessionApi, SessionSnapshot } from "../../../src/kernel/api.ts";

/** One client's way to the session. */
export interface SessionAccess {
	attach(options: AttachOptions): Promise<Attachment>;
	send<T extends CommandType>(command: Extract<Command, { type: T }>): Promise<CommandValues[T]>;
	snapshot(): Promise<SessionSnapshot>;
	events(after?: Cursor): AsyncIterable<AgentEvent>;
}

/** Opens a way to the session; called once for each client. */
export type Connect = (session: SessionApi) => Promise<SessionAccess>;

/** The session is in this process. */
export const connectInMemory: Connect = async (session) => ({
	attach: async (options) => await session.attach(options),
	send: (command) => session.send(command),
	snapshot: async () => await session.snapshot(),
	events: (after) => session.events(after),
});
