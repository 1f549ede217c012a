import { HttpRefusal } from "../replies.ts";
import { decoded } from "../requests.ts";

/** The subprotocol offered next to the token, and sent back. */
export const plainProtocol = "agentwire";
/** Token prefix, because browser pages cannot set headers. */
const bearerPrefix = "agentwire.bearer.";

export type SocketTarget = { readonly kind: "acp" } | { readonly kind: "wire"; readonly sessionId: string };

export function offeredProtocols(header: string | undefined): readonly string[] {
	const names = (header ?? "").split(",").map((name) => name.trim());
	return names.filter((name) => name !== "");
}

export function authorizationOf(protocols: readonly string[]): string | null {
	const found = protocols.find((name) => name.startsWith(bearerPrefix));
	return found === undefined ? null : `Bearer ${found.slice(bearerPrefix.length)}`;
}

/** The subprotocol to send back; false for none. A token is not repeated if another name was offered. */
export function answeredProtocol(protocols: Iterable<string>): string | false {
	const names = [...protocols];
	return names.find((name) => name === plainProtocol) ?? names.find((name) => name.startsWith(bearerPrefix)) ?? false;
}

/** Parses `/acp` and `/wire?session=ID`. Fails with an HttpRefusal, or `invalid-input`. */
export function readTarget(path: string, query: string): SocketTarget {
	const values = query.split("&").filter((each) => each !== "");
	const refuse = (text: string): never => {
		throw new HttpRefusal(400, text);
	};
	if (path === "/acp") {
		if (values.length > 0) refuse("/acp takes no parameters; send the token in a header.");
		return { kind: "acp" };
	}
	if (path === "/wire") {
		const [value, ...others] = values;
		const [, id = ""] = /^session=(.+)$/.exec(value ?? "") ?? [];
		if (id === "" || others.length > 0) refuse("/wire takes session=ID and nothing else; send the token in a header.");
		return { kind: "wire", sessionId: decoded(id) };
	}
	throw new HttpRefusal(404, "No WebSocket at this path. Available: /acp and /wire?session=ID.");
}
