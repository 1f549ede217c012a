// A say over where requests may go: asked before each connection, for the name and for every address behind it.
import { isInRange, parseAddress, whyNotPublic } from "./addresses.ts";

export interface AddressRule {
	/** Why a host must not be asked for by this name, whatever it stands for; null when it may. */
	checkName(name: string): string | null;
	/** Why this address of a host must not be connected to; null when it may. */
	checkAddress(address: string, host: string): string | null;
}

/** Names that only ever stand for something near; what is below them does as well. */
const nearNames = ["localhost", "local", "internal", "localdomain", "home.arpa"];

/**
 * Lets requests go to the public internet alone, and to what `allowed` names: hosts (`*.example` for all below one),
 * addresses, and ranges such as `10.0.0.0/8`.
 */
export function createPublicOnlyRule(allowed: readonly string[]): AddressRule {
	const ranges = allowed.filter((entry) => parseAddress(entry.split("/")[0] ?? "") !== null);
	const names = allowed.filter((entry) => !ranges.includes(entry)).map(toName);
	const isAllowedName = (name: string) =>
		names.some((entry) => (entry.startsWith("*.") ? name.endsWith(entry.slice(1)) : name === entry));
	return {
		checkName(written) {
			const name = toName(written);
			if (isAllowedName(name)) return null;
			const isNear = nearNames.some((near) => name === near || name.endsWith(`.${near}`));
			if (!isNear && name.includes(".")) return null;
			return `${name} is a name of this machine or of a local network`;
		},
		checkAddress(address, host) {
			if (isAllowedName(toName(host)) || ranges.some((range) => isInRange(address, range))) return null;
			const reason = whyNotPublic(address);
			if (reason === null) return null;
			return host === address ? `${address} is ${reason}` : `${host} has the address ${address}, which is ${reason}`;
		},
	};
}

/** A dot at the end says only that the name is complete. */
function toName(text: string): string {
	return text.toLowerCase().replace(/\.$/, "");
}
