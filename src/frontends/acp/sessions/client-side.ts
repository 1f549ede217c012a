import type { Peer } from "../../../ports/rpc/connection.ts";
import type { HostApi } from "../../shared/dialect.ts";
import type { Codec } from "../codec.ts";
import type { ClientCapabilities, InitializeParams } from "../wire.ts";

export interface AttachedClient {
	readonly capabilities: ClientCapabilities;
	readonly info: InitializeParams["clientInfo"];
	createCodec(): Codec;
}

export interface ClientSide {
	readonly kernelApi: HostApi;
	readonly peer: Peer;
	client(): AttachedClient;
	/** Aborts when the client disconnects. */
	readonly gone: AbortSignal;
}
