import { lookup } from "node:dns/promises";
import { isIP } from "node:net";

export function withoutBrackets(hostname: string): string {
	return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
}

export function isAddress(host: string): boolean {
	return isIP(host) !== 0;
}

export async function hasAddress(host: string): Promise<boolean> {
	if (isAddress(host)) return true;
	try {
		await lookup(host);
		return true;
	} catch {
		return false;
	}
}
