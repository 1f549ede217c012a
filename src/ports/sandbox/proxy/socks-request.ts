// The server side of a SOCKS 5 handshake (RFC 1928). Only CONNECT without authentication.
import type { ByteReader } from "./byte-reader.ts";

export interface SocksTarget {
	readonly host: string;
	readonly port: number;
}

export const socksVersion = 5;
const noAuthentication = 0;
const noAcceptableMethod = 0xff;
const connectCommand = 1;

export const socksReplies = { granted: 0, failed: 1, denied: 2, unsupportedCommand: 7, unsupportedAddress: 8 } as const;
export type SocksReply = keyof typeof socksReplies;

/** Does not reveal the bound address. */
export function toSocksReply(reply: SocksReply): Buffer {
	return Buffer.from([socksVersion, socksReplies[reply], 0, 1, 0, 0, 0, 0, 0, 0]);
}

function toIpv6(bytes: Buffer): string {
	const groups: string[] = [];
	for (let at = 0; at < 16; at += 2) groups.push(bytes.readUInt16BE(at).toString(16));
	return groups.join(":");
}

async function readHost(reader: ByteReader, kind: number): Promise<string | null> {
	if (kind === 1) return (await reader.take(4))?.join(".") ?? null;
	if (kind === 4) {
		const bytes = await reader.take(16);
		return bytes === null ? null : toIpv6(bytes);
	}
	const [length = 0] = (await reader.take(1)) ?? [];
	// Keep every byte visible to the check.
	return (await reader.take(length))?.toString("latin1") ?? null;
}

/** Reads the greeting, answers it and reads the request. Returns a reply for unsupported requests. */
export async function readSocksRequest(
	reader: ByteReader,
	write: (bytes: Buffer) => void,
): Promise<SocksTarget | SocksReply> {
	const [, count = 0] = (await reader.take(2)) ?? [];
	const methods = await reader.take(count);
	if (methods === null) return "failed";
	if (!methods.includes(noAuthentication)) {
		write(Buffer.from([socksVersion, noAcceptableMethod]));
		return "failed";
	}
	write(Buffer.from([socksVersion, noAuthentication]));
	const request = await reader.take(4);
	if (request === null || request[0] !== socksVersion) return "failed";
	const [, command, , kind = 0] = request;
	if (command !== connectCommand) return "unsupportedCommand";
	if (kind !== 1 && kind !== 3 && kind !== 4) return "unsupportedAddress";
	const host = await readHost(reader, kind);
	const port = await reader.take(2);
	return host === null || port === null ? "failed" : { host, port: port.readUInt16BE(0) };
}
