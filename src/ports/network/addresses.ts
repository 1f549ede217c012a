import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Public addresses where a cloud machine can read its own secrets. */
const metadataServices: ReadonlySet<string> = new Set(["168.63.129.16"]);

const reasons: Readonly<Record<string, string>> = {
	unspecified: "an unspecified address, which stands for this machine",
	broadcast: "a broadcast address",
	multicast: "a multicast address",
	linkLocal: "a link-local address, where clouds keep their metadata services",
	loopback: "a loopback address",
	carrierGradeNat: "an address inside a provider's network",
	private: "a private address",
	uniqueLocal: "a unique local address",
};

/** Why an address is not public, in words that follow "is"; null if it is public. */
export function whyNotPublic(address: string): string | null {
	const parsed = parseAddress(address);
	if (parsed === null) return "no address";
	if (metadataServices.has(parsed.toString())) return "the metadata service of a cloud";
	const range = parsed.range();
	return range === "unicast" ? whyNotGlobal(parsed) : (reasons[range] ?? "an address reserved for special use");
}

/** Some IPv6 addresses look global but are not. */
function whyNotGlobal(address: Address): string | null {
	if (address.kind() === "ipv4") return null;
	// Global addresses start with the bits 001; all others are unassigned or deprecated.
	const [first = 0] = address.toByteArray();
	return (first & 0xe0) === 0x20 ? null : "an address reserved for special use";
}

/** Returns an embedded IPv4 address by itself, because packets end there. Null if invalid. */
export function parseAddress(text: string): Address | null {
	// A zone names an interface of this machine, not another host.
	const [address = ""] = text.split("%");
	if (!ipaddr.isValid(address) || (!address.includes(":") && !ipaddr.IPv4.isValidFourPartDecimal(address))) return null;
	const parsed = ipaddr.parse(address);
	return parsed instanceof ipaddr.IPv6 ? (carriedAddress(parsed) ?? parsed) : parsed;
}

const carriers: Readonly<Record<string, number>> = { ipv4Mapped: 12, rfc6145: 12, rfc6052: 12, "6to4": 2 };

function carriedAddress(address: ipaddr.IPv6): ipaddr.IPv4 | null {
	const position = carriers[address.range()];
	return position === undefined ? null : new ipaddr.IPv4(address.toByteArray().slice(position, position + 4));
}

/** Whether an address is in a range such as `10.0.0.0/8`; a single address is a range of one. */
export function isInRange(address: string, range: string): boolean {
	const parsed = parseAddress(address);
	const [network = "", length] = range.split("/");
	const base = parseAddress(network);
	if (parsed === null || base === null || parsed.kind() !== base.kind()) return false;
	const longest = base.toByteArray().length * 8;
	const bits = length === undefined ? longest : Number(length);
	return bits <= longest && parsed.match(base, bits);
}
