// One implementation per way to connect.
import type { Operations, PublicEvent, SessionAttachParams, SessionAttachResult } from "./protocol-types.ts";

export type OperationName = keyof Operations;
export type CallName = Exclude<OperationName, "session.attach">;

export interface Attachment {
	readonly state: SessionAttachResult;
	/** Requesting a batch confirms the previous one. Throws PeerGone when the connection is lost. */
	readonly events: AsyncIterable<readonly PublicEvent[]>;
	close(): void;
}

export interface Transport {
	/** Fails with Refused for a server error, with PeerGone for a lost connection. */
	request<N extends CallName>(name: N, params: Operations[N]["params"]): Promise<Operations[N]["result"]>;
	attach(params: SessionAttachParams): Promise<Attachment>;
	/** Whether a lost attachment can be restored. */
	readonly reconnects: boolean;
	close(): Promise<void>;
}
