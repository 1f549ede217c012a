// Exact names or domains, listed addresses, and for names only public or listed addresses.
import { createPublicOnlyRule } from "../../network/address-rule.ts";
import { isInRange, parseAddress } from "../../network/addresses.ts";
import { normalizeHost } from "../../network/host-name.ts";

export interface AllowedHosts {
	/** Why the normalized host is forbidden, as a clause after "which". Null when allowed. */
	checkHost(host: string): string | null;
	/** The same for a resolved address. */
	checkAddress(address: string, host: string): string | null;
}

/** An empty list blocks everything. */
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
	// A listed name does not permit its address: the domain owner could point it at this machine.
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
