// Converts hosts between their spelling in URLs and in connections.
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";

/** The host of a URL as it is resolved and connected to. */
export function withoutBrackets(hostname: string): string {
	return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
}

/** Whether the host is an address rather than a name. */
export function isAddress(host: string): boolean {
	return isIP(host) !== 0;
}

/** Whether the host is an address, or a name for which one is known. */
export async function hasAddress(host: string): Promise<boolean> {
	if (isAddress(host)) return true;
	try {
		await lookup(host);
		return true;
	} catch {
		return false;
	}
}
