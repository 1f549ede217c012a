// Rules that decide which hosts requests may reach: checked before each connection, for the name and for all its
// addresses.
import { isInRange, parseAddress, whyNotPublic } from "./addresses.ts";

export interface AddressRule {
	/** Why a host must not be requested by this name, whatever it resolves to; null when it may. */
	checkName(name: string): string | null;
	/** Why this address of a host must not be connected to; null when it may. */
	checkAddress(address: string, host: string): string | null;
}

/** Names that only ever refer to something local, and so do the names below them. */
const nearNames = ["localhost", "local", "internal", "localdomain", "home.arpa"];

/**
 * Allows requests to the public internet only, and to `allowed`: hosts (`*.example` for all below one), addresses, and
 * ranges such as `10.0.0.0/8`.
 */
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

/** Whether a host should not be revealed to others: it is local by its name or address, or had to be allowed. */
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

/** A final dot only means that the name is complete. */
function toName(text: string): string {
	return text.toLowerCase().replace(/\.$/, "");
}
