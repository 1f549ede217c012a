// What the client needs of a connection: requests, and the events of an attachment. One implementation per way to connect.
import type { Operations, PublicEvent, SessionAttachParams, SessionAttachResult } from "./protocol-types.ts";

export type OperationName = keyof Operations;
export type CallName = Exclude<OperationName, "session.attach">;

export interface Attachment {
	readonly state: SessionAttachResult;
	/**
	 * Batches of events. Requesting the next one says that the last was taken. Ends when the session or the attachment is
	 * closed; throws PeerGone when the connection is lost.
	 */
	readonly events: AsyncIterable<readonly PublicEvent[]>;
	close(): void;
}

export interface Transport {
	/** Fails with Refused for an error of the server, with PeerGone when the connection is lost before the answer. */
	request<N extends CallName>(name: N, params: Operations[N]["params"]): Promise<Operations[N]["result"]>;
	attach(params: SessionAttachParams): Promise<Attachment>;
	/** Whether an attachment that was lost can be made again. */
	readonly reconnects: boolean;
	/** Ends the connection, and the server where the client started it. Idempotent. */
	close(): Promise<void>;
}
