import { once } from "node:events";
import type { Socket } from "node:net";
import { connect, type SecureContext } from "node:tls";
import { isAddress } from "../host.ts";
import { readableFailure } from "../readable-failure.ts";

/** Starts TLS with the host. Rejects if the host has no valid certificate for its name. */
export type Secure = (socket: Socket, host: string, port: number) => Promise<Socket>;

/** Maximum hosts whose last TLS session is stored, which saves the next handshake a round trip. */
const sessionLimit = 100;

export function createSecure(trust: SecureContext | null): Secure {
	const sessions = new Map<string, Buffer>();
	return async (socket, host, port) => {
		const key = `${host}:${port}`;
		const session = sessions.get(key);
		const secured = connect({
			socket,
			host,
			// An address is not a valid server name.
			...(isAddress(host) ? {} : { servername: host }),
			...(trust === null ? {} : { secureContext: trust }),
			...(session === undefined ? {} : { session }),
			ALPNProtocols: ["http/1.1"],
		});
		// For the socket's lifetime: an error without a listener would end the process.
		secured.on("error", () => {});
		secured.on("session", (next) => {
			sessions.delete(key);
			sessions.set(key, next);
			const [oldest] = sessions.keys();
			if (sessions.size > sessionLimit && oldest !== undefined) sessions.delete(oldest);
		});
		try {
			await once(secured, "secureConnect");
		} catch (thrown) {
			throw thrown instanceof Error ? readableFailure(thrown) : thrown;
		}
		return secured;
	};
}
