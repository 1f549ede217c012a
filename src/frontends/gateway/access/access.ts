// Checks run in order before a request is processed. Loopback does not protect: browsers send requests for any page.

import type { Scope } from "../../../api/operations.ts";
import { forgetOldest } from "../../../base/collections.ts";
import type { Tokens } from "./tokens.ts";

export interface RequestFacts {
	readonly hosts: readonly string[];
	readonly origin: string | null;
	/** `Sec-Fetch-Site`, which browsers set and pages cannot. */
	readonly fetchSite: string | null;
	readonly authorization: string | null;
	readonly remoteAddress: string;
}

export type Access =
	| { readonly kind: "allowed"; readonly scope: Scope; readonly token: string }
	/** `status` is an HTTP status; the text reveals nothing about the server. */
	| { readonly kind: "refused"; readonly status: 401 | 403 | 421 | 429; readonly text: string };

export interface AccessSettings {
	/** Accepted `Host` values in lowercase, with the port unless it is the default; null for any. */
	readonly hosts: ReadonlySet<string> | null;
	readonly tokens: Pick<Tokens, "scopeOf">;
	now(): number;
}

/** Failures per IPv4 address or IPv6 network within `failureSpan` milliseconds before it is banned for `banSpan` milliseconds. */
export const failureLimit = 10;
export const failureSpan = 60_000;
export const banSpan = 60_000;
const rememberedAddresses = 10_000;

const bearer = /^Bearer +([\x21-\x7e]{1,256})$/i;

export class AccessControl {
	readonly #settings: AccessSettings;
	readonly #failures = new Map<string, readonly number[]>();

	constructor(settings: AccessSettings) {
		this.#settings = settings;
	}

	/** Null if the request used a name of this server and came from its own page or a program. */
	checkPlace(facts: Omit<RequestFacts, "authorization">): Extract<Access, { kind: "refused" }> | null {
		const [host = "", ...others] = facts.hosts;
		// Blocks DNS rebinding: such a page sends its own name.
		const { hosts } = this.#settings;
		if (others.length > 0 || (hosts !== null && !hosts.has(host.toLowerCase()))) {
			return refused(421, "This server does not accept that host name. Its operator can allow it with --allow-host.");
		}
		if (facts.origin !== null && !isOrigin(facts.origin, host)) return refused(403, "This origin is not allowed.");
		if (facts.fetchSite !== null && facts.fetchSite !== "same-origin" && facts.fetchSite !== "none") {
			return refused(403, "Requests from other sites are not allowed.");
		}
		return null;
	}

	/** Fails with `storage-failed` if the tokens cannot be read. */
	async check(facts: RequestFacts): Promise<Access> {
		const misplaced = this.checkPlace(facts);
		if (misplaced !== null) return misplaced;
		if (this.#isBanned(facts.remoteAddress)) return refused(429, "Too many refused requests; wait a minute.");
		const [, token] = bearer.exec(facts.authorization ?? "") ?? [];
		const scope = token === undefined ? null : await this.#settings.tokens.scopeOf(token);
		if (token !== undefined && scope !== null) return { kind: "allowed", scope, token };
		this.#noteFailure(facts.remoteAddress);
		return refused(401, "A valid token is required: Authorization: Bearer TOKEN.");
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
		// A local attacker could read the file instead, and a ban would lock out the user.
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

/** An IPv4 address, or the /64 network in which an IPv6 client can choose any address. */
function toGuesser(address: string): string {
	const plain = address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, "");
	if (!plain.includes(":")) return plain;
	const [before = "", after] = plain.split("::");
	const words = (text: string) => text.split(":").filter((word) => word !== "");
	const [head, tail] = [words(before), words(after ?? "")];
	const zeros = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => "0");
	return [...head, ...zeros, ...tail].slice(0, 4).join(":");
}

function isOrigin(origin: string, host: string): boolean {
	const name = host.toLowerCase();
	return origin.toLowerCase() === `http://${name}` || origin.toLowerCase() === `https://${name}`;
}

/** Whether the whole address is loopback: `127.evil.test` is a name. */
export function isLoopback(address: string): boolean {
	const plain = address.toLowerCase().replace(/^::ffff:/, "");
	return plain === "::1" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(plain);
}

export const isWildcard = (address: string): boolean => address === "0.0.0.0" || address === "::";

export function hostNames(address: string, port: number, others: readonly string[], isSecure: boolean): Set<string> {
	const literal = address.includes(":") ? `[${address}]` : address;
	const names = isLoopback(address) || isWildcard(address) ? [literal, "localhost", "127.0.0.1", "[::1]"] : [literal];
	const usualPort = isSecure ? 443 : 80;
	const spelled = [...names, ...others].flatMap((name) => {
		// A name given with a port, as a proxy passes it on.
		if (/:\d+$/.test(name) && !name.endsWith("]")) return [name];
		return port === usualPort ? [name, `${name}:${port}`] : [`${name}:${port}`];
	});
	// Behind a proxy the client's port is the proxy's, and usually omitted.
	return new Set([...spelled, ...others].map((name) => name.toLowerCase()));
}
