// CONNECT for a tunnel, or an absolute URL. One request per connection.

export interface HttpTarget {
	/** As the client wrote it. */
	readonly host: string;
	readonly port: number;
	/** The first bytes for the host; null for a tunnel. */
	readonly head: string | null;
}

/** Headers for the proxy only, or about persistent connections. */
const droppedHeaders: ReadonlySet<string> = new Set([
	"connection",
	"keep-alive",
	"host",
	"proxy-authenticate",
	"proxy-authorization",
	"proxy-connection",
	"upgrade",
]);

/** A name or bracketed address, and a port. */
const authority = /^(?<host>\[[^\]]*\]|[^:@/?#]*)(?::(?<port>\d{1,5}))?$/;

function toPort(text: string | undefined, standard: number): number | null {
	const port = text === undefined ? standard : Number(text);
	return Number.isInteger(port) && port >= 1 && port <= 65_535 ? port : null;
}

/** Null if not a proxy request. `text` is one head in Latin-1, including the final empty line. */
export function parseHttpRequest(text: string): HttpTarget | null {
	const [first = "", ...lines] = text.replace(/\r\n\r\n$/, "").split("\r\n");
	const match = /^(?<method>[A-Z]{1,20}) (?<target>[\x21-\x7e]+) HTTP\/1\.[01]$/.exec(first);
	const { method, target = "" } = match?.groups ?? {};
	if (method === undefined) return null;
	if (method === "CONNECT") {
		const { host, port } = authority.exec(target)?.groups ?? {};
		const number = toPort(port, 443);
		return host === undefined || number === null ? null : { host, port: number, head: null };
	}
	const url = /^http:\/\/(?<place>[^/?#]*)(?<rest>[^#]*)/i.exec(target)?.groups;
	const { host, port } = authority.exec(url?.["place"] ?? "")?.groups ?? {};
	const number = toPort(port, 80);
	if (host === undefined || host === "" || number === null) return null;
	const headers: string[] = [];
	for (const line of lines) {
		const name = /^(?<name>[!#$%&'*+.^_`|~0-9A-Za-z-]+):[\t\x20-\x7e\x80-\xff]*$/.exec(line)?.groups?.["name"];
		if (name === undefined) return null;
		if (!droppedHeaders.has(name.toLowerCase())) headers.push(line);
	}
	const rest = url?.["rest"] ?? "";
	const head = [
		`${method} ${rest.startsWith("/") ? rest : `/${rest}`} HTTP/1.1`,
		`Host: ${url?.["place"] ?? ""}`,
		...headers,
		"Connection: close",
	];
	return { host, port: number, head: `${head.join("\r\n")}\r\n\r\n` };
}
