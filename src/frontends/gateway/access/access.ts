// Who may use the gateway: the checks of a request before anything of it is acted on, in their order. A browser sends
// requests for any web page that a person visits, so that loopback alone protects nothing.

import type { Scope } from "../../../api/operations.ts";
import { forgetOldest } from "../../../base/collections.ts";
import type { Tokens } from "./tokens.ts";

/** What is looked at of a request. */
export interface RequestFacts {
	/** Every `Host` header. */
	readonly hosts: readonly string[];
	readonly origin: string | null;
	/** `Sec-Fetch-Site`, which browsers set and pages cannot. */
	readonly fetchSite: string | null;
	readonly authorization: string | null;
	readonly remoteAddress: string;
}

export type Access =
	| { readonly kind: "allowed"; readonly scope: Scope; readonly token: string }
	/** `status` is that of HTTP; the text says nothing of what is served here. */
	| { readonly kind: "refused"; readonly status: 401 | 403 | 421 | 429; readonly text: string };

export interface AccessSettings {
	/** The values of `Host` that are accepted, in lower case, with the port where it is not the usual one; null for any. */
	readonly hosts: ReadonlySet<string> | null;
	readonly tokens: Pick<Tokens, "scopeOf">;
	/** Milliseconds of a clock that nobody sets. */
	now(): number;
}

/** Failures of one address, or one network of IPv6, within `failureSpan` milliseconds after which it is refused for `banSpan` milliseconds. */
export const failureLimit = 10;
export const failureSpan = 60_000;
export const banSpan = 60_000;
/** Addresses whose failures are remembered. */
const rememberedAddresses = 10_000;

const bearer = /^Bearer +([\x21-\x7e]{1,256})$/i;

export class AccessControl {
	readonly #settings: AccessSettings;
	/** The times of failures by address, the address that failed last at the end. */
	readonly #failures = new Map<string, readonly number[]>();

	constructor(settings: AccessSettings) {
		this.#settings = settings;
	}

	/** Why a request is refused whatever its token is; null when it came by a name of this server, from its own page or a program. */
	checkPlace(facts: Omit<RequestFacts, "authorization">): Extract<Access, { kind: "refused" }> | null {
		const [host = "", ...others] = facts.hosts;
		// A page whose name was made to lead to this machine sends its own name.
		const { hosts } = this.#settings;
		if (others.length > 0 || (hosts !== null && !hosts.has(host.toLowerCase()))) {
			return refused(421, "This server is not reached by that name. Whoever runs it can allow it with --allow-host.");
		}
		if (facts.origin !== null && !isOrigin(facts.origin, host)) return refused(403, "This origin is refused.");
		if (facts.fetchSite !== null && facts.fetchSite !== "same-origin" && facts.fetchSite !== "none") {
			return refused(403, "Requests of other sites are refused.");
		}
		return null;
	}

	/** Fails `storage-failed` when the tokens cannot be read. */
	async check(facts: RequestFacts): Promise<Access> {
		const misplaced = this.checkPlace(facts);
		if (misplaced !== null) return misplaced;
		if (this.#isBanned(facts.remoteAddress)) return refused(429, "Too many refused requests; wait a minute.");
		const [, token] = bearer.exec(facts.authorization ?? "") ?? [];
		const scope = token === undefined ? null : await this.#settings.tokens.scopeOf(token);
		if (token !== undefined && scope !== null) return { kind: "allowed", scope, token };
		this.#noteFailure(facts.remoteAddress);
		return refused(401, "A valid token is needed, as: Authorization: Bearer TOKEN.");
	}

	#isBanned(remoteAddress: string): boolean {
		const address = toGuesser(remoteAddress);
		const times = this.#failures.get(address);
		if (times === undefined || times.length < failureLimit) return false;
		const last = times.at(-1) ?? 0;
		if (this.#settings.now() - last < banSpan) return true;
		this.#failures.delete(address);
		return false;
	}

	#noteFailure(remoteAddress: string): void {
		// On this machine somebody who guesses could as well read the file, and others would be locked out.
		if (isLoopback(remoteAddress)) return;
		const address = toGuesser(remoteAddress);
		const now = this.#settings.now();
		const recent = (this.#failures.get(address) ?? []).filter((time) => now - time < failureSpan);
		this.#failures.delete(address);
		this.#failures.set(address, [...recent, now].slice(-failureLimit));
		forgetOldest(this.#failures, rememberedAddresses);
	}
}

function refused(
	status: Extract<Access, { kind: "refused" }>["status"],
	text: string,
): Extract<Access, { kind: "refused" }> {
	return { kind: "refused", status, text };
}

/** Whom failures count for: an IPv4 address, or the 64 bits of an IPv6 one within which a client may choose any other. */
function toGuesser(address: string): string {
	const plain = address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, "");
	if (!plain.includes(":")) return plain;
	const [before = "", after] = plain.split("::");
	const words = (text: string) => text.split(":").filter((word) => word !== "");
	const [head, tail] = [words(before), words(after ?? "")];
	const zeros = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => "0");
	return [...head, ...zeros, ...tail].slice(0, 4).join(":");
}

/** Whether the origin is this server, by the name that the request reached it with. */
function isOrigin(origin: string, host: string): boolean {
	const name = host.toLowerCase();
	return origin.toLowerCase() === `http://${name}` || origin.toLowerCase() === `https://${name}`;
}

/** Whether an address is this machine's own, in full: `127.evil.test` is a name. */
export function isLoopback(address: string): boolean {
	const plain = address.toLowerCase().replace(/^::ffff:/, "");
	return plain === "::1" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(plain);
}

/** Whether an address stands for all those of the machine. */
export const isWildcard = (address: string): boolean => address === "0.0.0.0" || address === "::";

/** The names in `Host` by which a server on this address and port is reached. */
export function hostNames(address: string, port: number, others: readonly string[], isSecure: boolean): Set<string> {
	const literal = address.includes(":") ? `[${address}]` : address;
	const names = isLoopback(address) || isWildcard(address) ? [literal, "localhost", "127.0.0.1", "[::1]"] : [literal];
	const usualPort = isSecure ? 443 : 80;
	const spelled = [...names, ...others].flatMap((name) => {
		// A name that was given with a port, as a proxy passes it on.
		if (/:\d+$/.test(name) && !name.endsWith("]")) return [name];
		return port === usualPort ? [name, `${name}:${port}`] : [`${name}:${port}`];
	});
	// With a proxy the client's port is the proxy's, and usually not named.
	return new Set([...spelled, ...others].map((name) => name.toLowerCase()));
}
