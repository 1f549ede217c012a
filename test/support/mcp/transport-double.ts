// A transport of an MCP client, with what the client received on it.
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";

export function createTransportDouble(): {
	readonly transport: Transport;
	readonly received: readonly JSONRPCMessage[];
} {
	const received: JSONRPCMessage[] = [];
	const transport: Transport = {
		start: async () => {},
		close: async () => {},
		send: async () => {},
		onmessage: (message: JSONRPCMessage) => void received.push(message),
	};
	return { transport, received };
}
