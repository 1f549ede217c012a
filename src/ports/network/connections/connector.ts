// Only to permitted addresses. A connection opened ahead or used before serves the next request to its origin.
import { once } from "node:events";
import type { Socket } from "node:net";
import type { SecureContext } from "node:tls";
import type { Clock } from "../../../base/clock.ts";
import type { AddressRule } from "../address-rule.ts";
import { isAddress, withoutBrackets } from "../host.ts";
import { NetworkError } from "../network-error.ts";
import type { Proxies, ProxyServer } from "../proxies/proxies.ts";
import { openTunnel } from "../proxies/tunnel.ts";
import { failureThroughProxy, failureToResolve } from "../readable-failure.ts";
import { type ConnectDeadline, startConnectDeadline } from "./connect-deadline.ts";
import { createIdleSockets } from "./idle-sockets.ts";
import { createSecure, type Secure } from "./secure-sockets.ts";
import type { Sockets } from "./sockets.ts";
import { createSpareSockets, idleLifetime } from "./spare-sockets.ts";

export interface ConnectorSettings {
	readonly proxies: Proxies;
	readonly sockets: Sockets;
	readonly clock: Clock;
	/** The trusted authorities; null for the default ones only. */
	trust(): Promise<SecureContext | null>;
	readonly rule: AddressRule | null;
	readonly connectTimeout: number;
}

export interface Connector {
	take(url: URL, signal: AbortSignal): Promise<Socket>;
	giveBack(url: URL, socket: Socket, lifetime: number): void;
	/** Opens a connection to the URL's origin and holds it for a while. Rejects if that fails. */
	openAhead(url: URL): Promise<void>;
}

export function createConnector(settings: ConnectorSettings): Connector {
	const { clock, proxies, rule, sockets } = settings;
	const spare = createSpareSockets(clock);
	const idle = createIdleSockets(clock);
	let securing: Promise<Secure> | null = null;

	const open = async (url: URL, signal: AbortSignal | null): Promise<Socket> => {
		const host = withoutBrackets(url.hostname);
		const port = portOf(url);
		const proxy = proxies.proxyOf(url);
		const deadline = startConnectDeadline(clock, settings.connectTimeout, host, signal);
		try {
			const socket =
				proxy === null ? await reach(host, port, rule, deadline) : await reachThrough(proxy, host, port, deadline);
			return url.protocol === "https:" ? await secure(socket, host, port, deadline) : socket;
		} catch (thrown) {
			throw proxy === null || signal?.aborted === true ? thrown : failureThroughProxy(thrown, proxy.variable);
		} finally {
			deadline.withdraw();
		}
	};

	const resolve = async (host: string) => {
		try {
			return await sockets.resolve(host);
		} catch (thrown) {
			throw failureToResolve(thrown, host);
		}
	};

	/** Connects only to the checked addresses, and never resolves the name again. */
	const reach = async (host: string, port: number, only: AddressRule | null, deadline: ConnectDeadline) => {
		checkHost(host, only);
		const addresses = isAddress(host)
			? [{ address: host, family: host.includes(":") ? 6 : 4 }]
			: await deadline.within(resolve(host));
		// One forbidden address blocks the host.
		for (const { address } of addresses) refuse(only?.checkAddress(address, host));
		const socket = sockets.dial(host, addresses, port);
		// An error without a listener would end the process; the socket's user receives it too.
		socket.on("error", () => {});
		return await deadline.on(socket, async () => {
			await once(socket, "connect");
			return socket;
		});
	};

	const reachThrough = async (proxy: ProxyServer, host: string, port: number, deadline: ConnectDeadline) => {
		checkHost(host, rule);
		// The user chose the proxy, so its address is not checked.
		const plain = await reach(proxy.host, proxy.port, null, deadline);
		const socket = proxy.protocol === "https" ? await secure(plain, proxy.host, proxy.port, deadline) : plain;
		return await deadline.on(socket, async () => {
			if (proxy.protocol !== "socks5") return await openTunnel(socket, proxy, host, port);
			const { openSocksTunnel } = await import("../proxies/socks.ts");
			return await openSocksTunnel(socket, proxy, host, port);
		});
	};

	const secure = async (socket: Socket, host: string, port: number, deadline: ConnectDeadline): Promise<Socket> => {
		return await deadline.on(socket, async () => {
			securing ??= settings.trust().then(createSecure);
			securing.catch(() => {
				securing = null;
			});
			return await (await securing)(socket, host, port);
		});
	};

	/** If this request is aborted while the connection is being opened, the next request gets it. */
	const takeSpare = async (url: URL, signal: AbortSignal): Promise<Socket | null> => {
		const opening = spare.take(url.origin);
		if (opening === null) return null;
		return await new Promise((resolve, reject) => {
			const giveUp = () => {
				reject(signal.reason);
				opening.then(
					(socket) => {
						if (socket !== null) idle.add(url.origin, socket, idleLifetime);
					},
					() => {},
				);
			};
			signal.addEventListener("abort", giveUp, { once: true });
			opening.then(resolve, reject).finally(() => signal.removeEventListener("abort", giveUp));
		});
	};

	return {
		async take(url, signal) {
			signal.throwIfAborted();
			const socket = idle.take(url.origin) ?? (await takeSpare(url, signal)) ?? (await open(url, signal));
			if (!signal.aborted) return socket;
			socket.destroy();
			throw signal.reason;
		},
		giveBack: (url, socket, lifetime) => idle.add(url.origin, socket, lifetime),
		openAhead: (url) => spare.add(url.origin, () => open(url, null)),
	};
}

export function checkHost(host: string, rule: AddressRule | null): void {
	refuse(isAddress(host) ? rule?.checkAddress(host, host) : rule?.checkName(host));
}

function refuse(reason: string | null | undefined): void {
	if (reason !== null && reason !== undefined) throw new NetworkError("address", reason);
}

function portOf({ protocol, port }: URL): number {
	return Number(port) || (protocol === "https:" ? 443 : 80);
}
