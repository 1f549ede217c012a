import { lookup } from "node:dns/promises";
import { connect, type Socket } from "node:net";

export interface ResolvedAddress {
	readonly address: string;
	readonly family: number;
}

export interface Sockets {
	resolve(name: string): Promise<readonly ResolvedAddress[]>;
	dial(host: string, addresses: readonly ResolvedAddress[], port: number): Socket;
}

/** Milliseconds without traffic before a keep-alive probe. */
const keepAliveDelay = 60_000;

export const systemSockets: Sockets = {
	resolve: (name) => lookup(name, { all: true }),
	dial: (host, addresses, port) =>
		connect({
			host,
			port,
			noDelay: true,
			keepAlive: true,
			keepAliveInitialDelay: keepAliveDelay,
			// Makes `lookup` return a list, whose addresses are tried with little delay in between.
			autoSelectFamily: true,
			lookup: (_host, _options, give) => give(null, [...addresses]),
		}),
};
