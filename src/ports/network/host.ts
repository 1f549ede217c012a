// Converts hosts between their spelling in URLs and in connections.
import { isIP } from "node:net";

/** The host of a URL as it is resolved and connected to. */
export function withoutBrackets(hostname: string): string {
	return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
}

/** Whether the host is an address rather than a name. */
export function isAddress(host: string): boolean {
	return isIP(host) !== 0;
}
