// A worker address in the database: host, port, and certificate fingerprint for encrypted connections.
import { isIPv6 } from "node:net";

export interface WorkerAddress {
	readonly host: string;
	readonly port: number;
}

/** `host:port`, with brackets around an IPv6 address. Null if invalid. */
export function readWorkerAddress(text: string): WorkerAddress | null {
	const found = /^(?:\[([^\]]+)\]|([^:[\]\s]+)):(\d{1,5})$/.exec(text);
	if (found === null) return null;
	const [, literal, name, digits] = found;
	const port = Number(digits);
	const host = literal ?? name ?? "";
	if (port > 65_535 || (literal !== undefined && !isIPv6(literal))) return null;
	return { host, port };
}

export function showWorkerAddress({ host, port }: WorkerAddress): string {
	return `${isIPv6(host) ? `[${host}]` : host}:${port}`;
}
