// Which addresses belong to the internet at large, and which to a machine, a network of one's own or a cloud's inside.
import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Addresses of the outside that answer with the secrets of a machine in a cloud. */
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

/** Why an address is not one of the public internet, in words that follow "is"; null when it is one. */
export function whyNotPublic(address: string): string | null {
	const parsed = parseAddress(address);
	if (parsed === null) return "no address";
	if (metadataServices.has(parsed.toString())) return "the metadata service of a cloud";
	const range = parsed.range();
	return range === "unicast" ? whyNotGlobal(parsed) : (reasons[range] ?? "an address reserved for special use");
}

/** IPv6 has addresses that look like any other and are none of the internet's. */
function whyNotGlobal(address: Address): string | null {
	if (address.kind() === "ipv4") return null;
	// Global addresses begin with the bits 001; all else is unassigned or was given up.
	const [first = 0] = address.toByteArray();
	return (first & 0xe0) === 0x20 ? null : "an address reserved for special use";
}

/**
 * Reads an address in the spelling of a resolver or a URL. An IPv4 address carried in an IPv6 one (mapped, translated by
 * a gateway, 6to4) is taken for itself: that is where packets to it end. Null for what is no address.
 */
export function parseAddress(text: string): Address | null {
	// A zone names an interface of this machine, not another place.
	const [address = ""] = text.split("%");
	if (!ipaddr.isValid(address) || (!address.includes(":") && !ipaddr.IPv4.isValidFourPartDecimal(address))) return null;
	const parsed = ipaddr.parse(address);
	return parsed instanceof ipaddr.IPv6 ? (carriedAddress(parsed) ?? parsed) : parsed;
}

/** Where each kind of carrier has the IPv4 address it carries, in bytes from the start. */
const carriers: Readonly<Record<string, number>> = { ipv4Mapped: 12, rfc6145: 12, rfc6052: 12, "6to4": 2 };

function carriedAddress(address: ipaddr.IPv6): ipaddr.IPv4 | null {
	const position = carriers[address.range()];
	return position === undefined ? null : new ipaddr.IPv4(address.toByteArray().slice(position, position + 4));
}

/** Whether an address lies in a range such as `10.0.0.0/8`; a lone address is a range of one. */
export function isInRange(address: string, range: string): boolean {
	const parsed = parseAddress(address);
	const [network = "", length] = range.split("/");
	const base = parseAddress(network);
	if (parsed === null || base === null || parsed.kind() !== base.kind()) return false;
	const longest = base.toByteArray().length * 8;
	const bits = length === undefined ? longest : Number(length);
	return bits <= longest && parsed.match(base, bits);
}
