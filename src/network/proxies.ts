// Which way a request takes: straight to its host or over a proxy, as the variables of the environment say.
import { withoutBrackets } from "./host.ts";
import { NetworkError } from "./network-error.ts";
import { createExceptions } from "./proxy-exceptions.ts";

/** A proxy as far as it must be known to use it. */
export interface ProxyServer {
	/** `socks5` stands for both of its spellings: names are the proxy's to resolve, whatever its kind. */
	readonly protocol: "http" | "https" | "socks5";
	/** Without brackets. */
	readonly host: string;
	readonly port: number;
	/** Null when the proxy asks for none. */
	readonly credentials: { readonly user: string; readonly password: string } | null;
	/** The variable that names it. */
	readonly variable: string;
}

export interface Proxies {
	/** The proxy for requests to this URL; null for none. Throws NetworkError when the variable cannot be used. */
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

/** `environment` is read once. The names of the variables may be lower case, which wins, or upper case. */
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

/** A value without a scheme names an HTTP proxy. */
function readProxy(variable: string, value: string): ProxyServer {
	const separator = value.indexOf("://");
	const scheme = separator === -1 ? "http" : value.slice(0, separator).toLowerCase();
	const protocol = protocols.get(scheme);
	// The value is not quoted: there may be a password in it.
	if (protocol === undefined) {
		throw new NetworkError(
			"configuration",
			`${variable} names a proxy of a kind that cannot be used (${scheme}); known are ${[...protocols.keys()].join(", ")}.`,
		);
	}
	// As http, so that the host is read like that of any URL.
	const rest = separator === -1 ? value : value.slice(separator + 3);
	const url = URL.canParse(`http://${rest}`) ? new URL(`http://${rest}`) : null;
	if (url === null) {
		throw new NetworkError(
			"configuration",
			`${variable} is not the URL of a proxy, such as http://proxy.example:3128.`,
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

/** The port as written; a URL leaves out the one that is standard for its scheme. */
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
