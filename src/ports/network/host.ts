// Converts hosts between their spelling in URLs and in connections.
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";

/** The host of a URL as used to resolve and connect. */
export function withoutBrackets(hostname: string): string {
	return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
}

export function isAddress(host: string): boolean {
	return isIP(host) !== 0;
}

/** Whether the host is an address, or a name that resolves. */
export async function hasAddress(host: string): Promise<boolean> {
	if (isAddress(host)) return true;
	try {
		await lookup(host);
		return true;
	} catch {
		return false;
	}
}
