import { parseAddress } from "./addresses.ts";

/** Characters allowed in a host besides the colons and brackets of an address. */
const plainHost = /^[^\s/?#@\\%<>^|"`{}[\]:\p{Cc}]+$/u;

/** Normalizes a host: lower case, punycode, no final dot, addresses as in a URL (`0x7f.1` is `127.0.0.1`). Null if invalid. */
export function normalizeHost(text: string): string | null {
	const bare = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text;
	if (bare.includes(":")) return bare.includes("%") ? null : (parseAddress(bare)?.toString() ?? null);
	if (bare.length > 1000 || !plainHost.test(bare)) return null;
	try {
		const { hostname } = new URL(`http://${bare}/`);
		const name = hostname.replace(/\.$/, "");
		return name === "" || name.length > 253 || name.includes("..") || name.endsWith(".") ? null : name;
	} catch {
		return null;
	}
}
