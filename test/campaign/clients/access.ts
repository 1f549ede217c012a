// What a client of this campaign has of a session, wherever the session is: an adapter for each way to reach it.
import type { Socket } from "node:net";
import type { CommandOf, CommandType, CommandValues } from "../../../src/api/commands.ts";
import type { Attachment, SessionApi } from "../../../src/api/kernel.ts";
import type { AttachOptions } from "../../../src/api/session-options.ts";
import type { SessionSnapshot } from "../../../src/api/session-state.ts";
import type { AgentEvent, Cursor } from "../../../src/api/values/event.ts";
import { connectRemote, createSocketPair, offerSession, type Remote } from "../../support/host/remote-sessions.ts";

/** One client's way to the session. */
export interface SessionAccess {
	attach(options: AttachOptions): Promise<Attachment>;
	send<T extends CommandType>(command: CommandOf<T>): Promise<CommandValues[T]>;
	snapshot(): Promise<SessionSnapshot>;
	events(after?: Cursor): AsyncIterable<readonly AgentEvent[]>;
}

/** Opens a way to the session; called once for each client. */
export type Connect = (session: SessionApi) => Promise<SessionAccess>;

/** Where the session is, for its clients. */
export interface Place {
	readonly connect: Connect;
	/** Whether the turns of the event loop are the same in every run. */
	readonly isInProcess: boolean;
	/** Whether bytes are on their way. */
	isBusy(): boolean;
	/** Closes the connections of a round. */
	closeAll(): Promise<void>;
}

/** The session is in this process. */
export const connectInMemory: Connect = async (session) => ({
	attach: async (options) => await session.attach(options),
	send: (command) => session.send(command),
	snapshot: async () => await session.snapshot(),
	events: (after) => session.events(after),
});

export const inMemory: Place = {
	connect: connectInMemory,
	isInProcess: true,
	isBusy: () => false,
	closeAll: async () => {},
};

/** Every client has a connection of its own, over a real socket. */
export function createSocketPlace(): Place {
	const open: Remote[] = [];
	let pairs: (readonly [Socket, Socket])[] = [];
	const isUnread = (from: Socket, to: Socket) => from.bytesWritten !== to.bytesRead;
	return {
		isInProcess: false,
		isBusy: () => pairs.some(([one, other]) => isUnread(one, other) || isUnread(other, one)),
		async connect(session) {
			const pair = await createSocketPair();
			pairs.push(pair);
			const remote = await connectRemote(offerSession(session), async () => pair);
			open.push(remote);
			return (await remote.sessions.acquire(session.id)).session;
		},
		async closeAll() {
			pairs = [];
			await Promise.all(
				open.splice(0).map(async ({ close, served }) => {
					await close();
					await served;
				}),
			);
		},
	};
}
