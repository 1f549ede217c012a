// Connects through a SOCKS 5 proxy (RFC 1928, RFC 1929), which resolves names itself.
import { isIPv4, isIPv6, type Socket } from "node:net";
import ipaddr from "ipaddr.js";
import { NetworkError } from "../network-error.ts";
import type { ProxyServer } from "./proxies.ts";

const version = 5;
const noAuthentication = 0;
const userAndPassword = 2;
const addressLengths: ReadonlyMap<number, number> = new Map([
	[1, 4],
	[4, 16],
]);

const refusals: readonly string[] = [
	"",
	"it failed",
	"its rules do not allow it",
	"the network cannot be reached",
	"the host cannot be reached",
	"the host refuses the connection",
	"it took too long",
	"it does not know how to connect",
	"it does not know this kind of address",
];

/** Requests a tunnel to the host from the proxy at the other end of `socket`. Throws NetworkError if it refuses. */
export async function openSocksTunnel(socket: Socket, proxy: ProxyServer, host: string, port: number): Promise<Socket> {
	const reader = createByteReader(socket);
	try {
		await converse(socket, reader, proxy, host, port);
		return socket;
	} finally {
		reader.release();
	}
}

async function converse(
	socket: Socket,
	reader: ByteReader,
	{ variable, credentials }: ProxyServer,
	host: string,
	port: number,
): Promise<void> {
	const fail = (why: string) => new NetworkError("proxy", `The proxy of ${variable} ${why}.`);
	const read = async (count: number): Promise<Buffer> => {
		const bytes = await reader.read(count);
		if (bytes === null) throw fail("ended the connection before it was ready");
		return bytes;
	};
	const methods = credentials === null ? [noAuthentication] : [noAuthentication, userAndPassword];
	socket.write(Buffer.from([version, methods.length, ...methods]));
	const [spoken, method] = await read(2);
	if (spoken !== version) throw fail("does not speak SOCKS 5");
	if (method === userAndPassword && credentials !== null) {
		const words = [credentials.user, credentials.password].map((word) => Buffer.from(word));
		if (words.some(({ length }) => length > 255)) throw fail("cannot be given a user name or password that long");
		socket.write(Buffer.concat([Buffer.from([1]), ...words.flatMap((word) => [Buffer.from([word.length]), word])]));
		const [, status] = await read(2);
		if (status !== 0) throw fail("refuses the user name or the password");
	} else if (method !== noAuthentication) {
		throw fail("wants a user name and a password");
	}
	socket.write(Buffer.concat([Buffer.from([version, 1, 0]), toTarget(host), Buffer.from([port >> 8, port & 0xff])]));
	const [, reply = 1, , kind = 0] = await read(4);
	if (reply !== 0) throw fail(`refuses a connection to ${host}:${port}: ${refusals[reply] ?? `reply ${reply}`}`);
	// The proxy's own address and port, which are not needed.
	const length = addressLengths.get(kind) ?? (await read(1))[0] ?? 0;
	await read(length + 2);
}

function toTarget(host: string): Buffer {
	if (isIPv4(host)) return Buffer.from([1, ...ipaddr.parse(host).toByteArray()]);
	if (isIPv6(host)) return Buffer.from([4, ...ipaddr.parse(host).toByteArray()]);
	const name = Buffer.from(host);
	return Buffer.concat([Buffer.from([3, name.length]), name]);
}

interface ByteReader {
	/** Reads exactly `count` bytes; null if the stream ends first. Later bytes stay in the socket. */
	read(count: number): Promise<Buffer | null>;
	release(): void;
}

const changes = ["readable", "end", "close"] as const;

function createByteReader(socket: Socket): ByteReader {
	let wake = () => {};
	// One listener for all reads: a listener per read would be called repeatedly for the same bytes while there are too few.
	const onChange = () => wake();
	for (const change of changes) socket.on(change, onChange);
	return {
		async read(count) {
			for (;;) {
				const bytes: Buffer | null = socket.read(count);
				if (bytes !== null) return bytes.length === count ? bytes : null;
				if (socket.readableEnded || socket.destroyed) return null;
				await new Promise<void>((resolve) => {
					wake = resolve;
				});
			}
		},
		release() {
			for (const change of changes) socket.off(change, onChange);
		},
	};
}
