// Which hosts the proxy of sandboxed commands connects to: names by their exact spelling or below a domain, addresses
// only when they are listed, and of names only the addresses that are public or listed.
import { createPublicOnlyRule } from "../../network/address-rule.ts";
import { isInRange, parseAddress } from "../../network/addresses.ts";
import { normalizeHost } from "../../network/host-name.ts";

export interface AllowedHosts {
	/** Why the host (normalized) must not be reached; a clause that follows "which". Null when it may. */
	checkHost(host: string): string | null;
	/** The same for an address that the host resolved to. */
	checkAddress(address: string, host: string): string | null;
}

/** An empty list allows nothing. */
export function createAllowedHosts(allowed: readonly string[]): AllowedHosts {
	const isRange = (entry: string) => parseAddress(entry.split("/")[0] ?? "") !== null;
	const ranges = allowed.filter(isRange);
	const domains: string[] = [];
	const names = new Set<string>();
	for (const entry of allowed.filter((text) => !isRange(text))) {
		const name = normalizeHost(entry.replace(/^\*\./, ""));
		if (name === null) continue;
		if (entry.startsWith("*.")) domains.push(`.${name}`);
		else names.add(name);
	}
	const isListed = (address: string) => ranges.some((range) => isInRange(address, range));
	// Names do not make an address permitted: whoever runs a listed domain could point it at this machine.
	const rule = createPublicOnlyRule(ranges);
	return {
		checkHost(host) {
			const isNamed = names.has(host) || domains.some((domain) => host.endsWith(domain));
			const isPermitted = parseAddress(host) === null ? isNamed : isListed(host);
			return isPermitted ? null : "is not among the allowed domains";
		},
		checkAddress(address, host) {
			const reason = rule.checkAddress(address, host);
			if (reason === null) return null;
			return host === address ? reason.replace(/^.* (?=is )/, "") : `has an address that is not public: ${address}`;
		},
	};
}
