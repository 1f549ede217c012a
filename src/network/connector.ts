// Opens the connections that requests travel on: straight or through a proxy, to addresses that may be connected to,
// with TLS where the URL wants it. A connection opened ahead of time is kept for the next request to its origin.
import { once } from "node:events";
import type { Socket } from "node:net";
import type { SecureContext } from "node:tls";
import { buildConnector } from "undici";
import type { Clock } from "../base/clock.ts";
import type { AddressRule } from "./address-rule.ts";
import { type ConnectDeadline, startConnectDeadline } from "./connect-deadline.ts";
import { isAddress, withoutBrackets } from "./host.ts";
import { NetworkError } from "./network-error.ts";
import type { Proxies, ProxyServer } from "./proxies.ts";
import type { Sockets } from "./sockets.ts";
import { createSpareSockets } from "./spare-sockets.ts";
import { openTunnel } from "./tunnel.ts";

export interface ConnectorSettings {
	readonly proxies: Proxies;
	readonly sockets: Sockets;
	readonly clock: Clock;
	/** Whom to trust; null for the usual authorities alone. */
	trust(): Promise<SecureContext | null>;
	/** Null lets every address be connected to. */
	readonly rule: AddressRule | null;
	/** Milliseconds until a connection must be there, TLS and all. */
	readonly connectTimeout: number;
}

export interface Connector {
	/** For the HTTP client. */
	readonly connect: buildConnector.connector;
	/** Opens a connection to the origin of the URL and keeps it for a while. Rejects when that fails. */
	openAhead(url: URL): Promise<void>;
}

type Target = Pick<buildConnector.Options, "hostname" | "host" | "protocol" | "port" | "servername">;

export function createConnector(settings: ConnectorSettings): Connector {
	const { clock, proxies, rule, sockets } = settings;
	const spare = createSpareSockets(clock);
	let securing: Promise<buildConnector.connector> | null = null;

	const open = async (target: Target): Promise<Socket> => {
		const deadline = startConnectDeadline(clock, settings.connectTimeout, target.hostname);
		try {
			const proxy = proxies.proxyOf(new URL(originOf(target)));
			const [host, port] = [target.hostname, portOf(target)];
			const socket =
				proxy === null ? await reach(host, port, rule, deadline) : await reachThrough(proxy, host, port, deadline);
			return target.protocol === "https:" ? await secure(socket, target, deadline) : socket;
		} finally {
			deadline.withdraw();
		}
	};

	/** Connects to the addresses that were looked at, and never resolves the name a second time. */
	const reach = async (host: string, port: number, only: AddressRule | null, deadline: ConnectDeadline) => {
		checkHost(host, only);
		const addresses = isAddress(host)
			? [{ address: host, family: host.includes(":") ? 6 : 4 }]
			: await deadline.within(sockets.resolve(host));
		// One that may not be connected to condemns the host: it has no business among the others.
		for (const { address } of addresses) refuse(only?.checkAddress(address, host));
		const socket = sockets.dial(host, addresses, port);
		// An error that comes while nobody listens must not end the process; whoever uses the socket hears of it too.
		socket.on("error", () => {});
		return await deadline.on(socket, async () => {
			await once(socket, "connect");
			return socket;
		});
	};

	const reachThrough = async (proxy: ProxyServer, host: string, port: number, deadline: ConnectDeadline) => {
		checkHost(host, rule);
		// The proxy itself is the person's choice, wherever it is.
		const plain = await reach(proxy.host, proxy.port, null, deadline);
		const target = { protocol: "https:", hostname: proxy.host, host: proxy.host, port: String(proxy.port) };
		const socket = proxy.protocol === "https" ? await secure(plain, target, deadline) : plain;
		return await deadline.on(socket, async () => {
			if (proxy.protocol !== "socks5") return await openTunnel(socket, proxy, host, port);
			const { openSocksTunnel } = await import("./socks.ts");
			return await openSocksTunnel(socket, proxy, host, port);
		});
	};

	const secure = async (socket: Socket, target: Target, deadline: ConnectDeadline): Promise<Socket> => {
		securing ??= createSecuring(settings).catch((thrown: unknown) => {
			securing = null;
			throw thrown;
		});
		const connect = await securing;
		return await deadline.on(
			socket,
			() =>
				new Promise<Socket>((resolve, reject) => {
					connect({ ...target, httpSocket: socket }, (...[error, secured]) => {
						if (error === null) resolve(secured);
						else reject(error);
					});
				}),
		);
	};

	return {
		connect(target, callback) {
			const opening = spare.take(originOf(target)).then((socket) => socket ?? open(target));
			opening.then(
				(socket) => callback(null, socket),
				(thrown: unknown) => callback(thrown instanceof Error ? thrown : new Error(String(thrown)), null),
			);
		},
		async openAhead({ protocol, hostname, host, port }) {
			const target = { protocol, host, port, hostname: withoutBrackets(hostname) };
			await spare.add(originOf(target), () => open(target));
		},
	};
}

/** What can be known of a host before it is resolved, or when a proxy will: its name, or the address that it is. */
export function checkHost(host: string, rule: AddressRule | null): void {
	refuse(isAddress(host) ? rule?.checkAddress(host, host) : rule?.checkName(host));
}

function refuse(reason: string | null | undefined): void {
	if (reason !== null && reason !== undefined) throw new NetworkError("address", reason);
}

/** The deadline is over all of a connection, so the step has none of its own. */
async function createSecuring({ trust }: ConnectorSettings): Promise<buildConnector.connector> {
	const context = await trust();
	return buildConnector({ timeout: 0, ...(context === null ? {} : { secureContext: context }) });
}

function originOf({ protocol, host, hostname }: Target): string {
	return `${protocol}//${host ?? hostname}`;
}

function portOf({ protocol, port }: Target): number {
	return Number(port) || (protocol === "https:" ? 443 : 80);
}
