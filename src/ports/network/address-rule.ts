import { isInRange, parseAddress, whyNotPublic } from "./addresses.ts";

export interface AddressRule {
	/** Why this host name must not be requested, whatever it resolves to; null if allowed. */
	checkName(name: string): string | null;
	/** Why this address of a host must not be connected to; null if allowed. */
	checkAddress(address: string, host: string): string | null;
}

/** Names that only ever refer to local hosts, including all names below them. */
const nearNames = ["localhost", "local", "internal", "localdomain", "home.arpa"];

/** `allowed`: hosts (`*.example` for subdomains), addresses, and ranges such as `10.0.0.0/8`. */
export function createPublicOnlyRule(allowed: readonly string[]): AddressRule {
	const { hasName, hasAddress } = createAllowList(allowed);
	return {
		checkName(written) {
			const name = toName(written);
			return hasName(name) || !isNearName(name) ? null : `${name} is a name of this machine or of a local network`;
		},
		checkAddress(address, host) {
			if (hasName(toName(host)) || hasAddress(address)) return null;
			const reason = whyNotPublic(address);
			if (reason === null) return null;
			return host === address ? `${address} is ${reason}` : `${host} has the address ${address}, which is ${reason}`;
		},
	};
}

/** Whether a host should not be revealed to others: its name or address is local, or it needed an `allowed` entry. */
export function isPrivateHost(host: string, allowed: readonly string[]): boolean {
	const name = toName(host);
	if (createAllowList(allowed).hasName(name)) return true;
	return parseAddress(host) === null ? isNearName(name) : whyNotPublic(host) !== null;
}

function createAllowList(allowed: readonly string[]) {
	const ranges = allowed.filter((entry) => parseAddress(entry.split("/")[0] ?? "") !== null);
	const names = allowed.filter((entry) => !ranges.includes(entry)).map(toName);
	return {
		hasName: (name: string) =>
			names.some((entry) => (entry.startsWith("*.") ? name.endsWith(entry.slice(1)) : name === entry)),
		hasAddress: (address: string) => ranges.some((range) => isInRange(address, range)),
	};
}

function isNearName(name: string): boolean {
	return !name.includes(".") || nearNames.some((near) => name === near || name.endsWith(`.${near}`));
}

function toName(text: string): string {
	return text.toLowerCase().replace(/\.$/, "");
}
