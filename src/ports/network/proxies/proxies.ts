import { withoutBrackets } from "../host.ts";
import { NetworkError } from "../network-error.ts";
import { createExceptions } from "./proxy-exceptions.ts";

export interface ProxyServer {
	/** `socks5` covers both spellings: every kind of proxy resolves names itself. */
	readonly protocol: "http" | "https" | "socks5";
	readonly host: string;
	readonly port: number;
	readonly credentials: { readonly user: string; readonly password: string } | null;
	readonly variable: string;
}

export interface Proxies {
	/** The proxy for this URL; null for none. Throws NetworkError if the variable is unusable. */
	proxyOf(url: URL): ProxyServer | null;
}

const protocols: ReadonlyMap<string, ProxyServer["protocol"]> = new Map([
	["http", "http"],
	["https", "https"],
	["socks", "socks5"],
	["socks5", "socks5"],
	["socks5h", "socks5"],
]);

const standardPorts: Readonly<Record<ProxyServer["protocol"], number>> = { http: 80, https: 443, socks5: 1080 };

/** `environment` is read once. Lower-case variable names override upper-case ones. */
export function createProxies(environment: Readonly<Record<string, string>>): Proxies {
	const variableOf = (names: readonly string[]): { readonly name: string; readonly value: string } | null => {
		for (const name of names.flatMap((word) => [word.toLowerCase(), word])) {
			const value = environment[name]?.trim() ?? "";
			if (value !== "") return { name, value };
		}
		return null;
	};
	const isException = createExceptions(variableOf(["NO_PROXY"])?.value ?? "");
	return {
		proxyOf(url) {
			const scheme = url.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
			const found = variableOf([scheme, "ALL_PROXY"]);
			return found === null || isException(url) ? null : readProxy(found.name, found.value);
		},
	};
}

/** A value without a scheme is an HTTP proxy. */
function readProxy(variable: string, value: string): ProxyServer {
	const separator = value.indexOf("://");
	const scheme = separator === -1 ? "http" : value.slice(0, separator).toLowerCase();
	const protocol = protocols.get(scheme);
	// Never quote the value: it may contain a password.
	if (protocol === undefined) {
		throw new NetworkError(
			"configuration",
			`${variable} names an unsupported kind of proxy (${scheme}); supported are ${[...protocols.keys()].join(", ")}.`,
		);
	}
	// Parsed with http, so that the host is normalized like that of any URL.
	const rest = separator === -1 ? value : value.slice(separator + 3);
	const url = URL.canParse(`http://${rest}`) ? new URL(`http://${rest}`) : null;
	if (url === null) {
		throw new NetworkError(
			"configuration",
			`${variable} is not the URL of a proxy, such as http://proxy.example:3128. Special characters of a password are percent-encoded.`,
		);
	}
	return {
		protocol,
		host: withoutBrackets(url.hostname),
		port: portOf(rest, url) ?? standardPorts[protocol],
		credentials: url.username === "" ? null : { user: decode(url.username), password: decode(url.password) },
		variable,
	};
}

/** The port as written; a URL omits its scheme's default port. */
function portOf(rest: string, url: URL): number | null {
	if (url.port !== "") return Number(url.port);
	return /^[^/?#]*:80(?:[/?#]|$)/.test(rest) ? 80 : null;
}

function decode(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}
