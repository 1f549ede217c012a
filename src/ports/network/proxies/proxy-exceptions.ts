import { BlockList, isIP } from "node:net";

/** Names (with subdomains), addresses, ranges and `*`, separated by commas or spaces, optionally with a port. */
export function createExceptions(list: string): (url: URL) => boolean {
	const entries = list.split(/[\s,]+/).filter((entry) => entry !== "");
	if (entries.includes("*")) return () => true;
	const matchers = entries.map(toMatcher);
	return (url) => {
		const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
		const port = url.port || (url.protocol === "https:" ? "443" : "80");
		return matchers.some(({ matches, port: only }) => (only === null || only === port) && matches(host));
	};
}

interface Matcher {
	matches(host: string): boolean;
	readonly port: string | null;
}

function toMatcher(entry: string): Matcher {
	const [address = "", prefix = null] = entry.split("/");
	if (isIP(address) !== 0) return { matches: matchRange(address, prefix), port: null };
	const [, host = "", port = null] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
	const inside = host.replace(/^\[|\]$/g, "");
	return { matches: isIP(inside) === 0 ? matchName(inside) : matchRange(inside, null), port };
}

function matchName(written: string): Matcher["matches"] {
	const name = written
		.toLowerCase()
		.replace(/^\*?\./, "")
		.replace(/\.$/, "");
	return (host) => name !== "" && (host === name || host.endsWith(`.${name}`));
}

function matchRange(address: string, prefix: string | null): Matcher["matches"] {
	const longest = isIP(address) === 6 ? 128 : 32;
	const length = prefix === null ? longest : /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1;
	if (length < 0 || length > longest) return () => false;
	const range = new BlockList();
	range.addSubnet(address, length, familyOf(address));
	return (host) => isIP(host) !== 0 && range.check(host, familyOf(host));
}

function familyOf(address: string): "ipv4" | "ipv6" {
	return isIP(address) === 6 ? "ipv6" : "ipv4";
}
