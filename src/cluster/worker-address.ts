// Where a worker is reached, as the database has it: a host and a port, with the fingerprint of its certificate where the
// connection is encrypted.
import { isIPv6 } from "node:net";

export interface WorkerAddress {
	readonly host: string;
	readonly port: number;
}

/** `host:port`, with brackets around an IPv6 address. Null for another text. */
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
