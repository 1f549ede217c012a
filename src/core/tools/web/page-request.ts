import type { Clock } from "../../../base/clock.ts";
import { type NetworkFailure, toNetworkFailure } from "../../../ports/network/network-error.ts";
import type { Fetch } from "../../../ports/network/network-settings.ts";
import { readAtMost } from "./response-body.ts";

export interface PageLimits {
	/** Total milliseconds, including redirects. */
	readonly total: number;
	readonly redirects: number;
	/** Maximum body size in bytes, decompressed. */
	readonly bytes: number;
	/** Why a redirect target must not be fetched: a sentence; null if it may be. */
	refuses?(url: URL): Promise<string | null>;
}

export type PageAnswer =
	| {
			readonly kind: "answered";
			/** All requested addresses; the last one answered. */
			readonly path: readonly URL[];
			readonly status: number;
			readonly statusText: string;
			readonly contentType: string | null;
			readonly body: Uint8Array;
	  }
	/** `brief` is for display. */
	| { readonly kind: "failed"; readonly message: string; readonly brief: string }
	| { readonly kind: "cancelled" };

/** Some servers only answer browsers. */
const headers = {
	"user-agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36",
	accept: "text/html,application/xhtml+xml,text/markdown,text/plain,application/json;q=0.9,*/*;q=0.8",
	"accept-language": "en-US,en;q=0.9,*;q=0.5",
};

/** A valid address, or else a sentence with the reason. */
export function readAddress(text: string, base?: URL): URL | string {
	const url = URL.canParse(text, base?.href) ? new URL(text, base) : null;
	if (url === null) return `${JSON.stringify(text)} is not a URL; it must begin with http:// or https://.`;
	if (!/^https?:$/.test(url.protocol)) return `Only http and https can be fetched, not ${url.protocol}//.`;
	if (url.username !== "" || url.password !== "") return "URLs with a user name or a password are not fetched.";
	return url;
}

export async function getPage(
	fetch: Fetch,
	start: URL,
	limits: PageLimits,
	clock: Clock,
	signal: AbortSignal,
): Promise<PageAnswer> {
	const deadline = new AbortController();
	const withdraw = clock.after(limits.total, () => deadline.abort());
	try {
		return await follow(fetch, start, limits, AbortSignal.any([signal, deadline.signal]));
	} catch (thrown) {
		if (signal.aborted) return { kind: "cancelled" };
		if (deadline.signal.aborted) return timedOut(`The page did not load within ${limits.total / 1000} s.`);
		return toFailure(toNetworkFailure(thrown));
	} finally {
		withdraw();
		// The rest is not awaited.
		deadline.abort();
	}
}

async function follow(fetch: Fetch, start: URL, limits: PageLimits, signal: AbortSignal): Promise<PageAnswer> {
	const path = [start];
	for (let url = start; ; ) {
		const response = await fetch(url, { headers, redirect: "manual", signal });
		const location = isRedirect(response.status) ? response.headers.get("location") : null;
		if (location === null) return await readPage(response, path, limits);
		await response.body?.cancel();
		const next = readAddress(location, url);
		if (typeof next === "string")
			return failed(`${url.href} redirects to an address that cannot be fetched. ${next}`, "Bad redirect");
		if (path.length > limits.redirects) {
			return failed(`The page redirects more than ${limits.redirects} times.`, "Too many redirects");
		}
		const refusal = (await limits.refuses?.(next)) ?? null;
		if (refusal !== null) return failed(`The page redirects to ${next.href}. ${refusal}`, "Rejected by a rule");
		path.push(next);
		url = next;
	}
}

async function readPage(response: Response, path: readonly URL[], limits: PageLimits): Promise<PageAnswer> {
	const { status, statusText } = response;
	const announced = Number(response.headers.get("content-length") ?? 0);
	const body = announced > limits.bytes ? null : await readAtMost(response, limits.bytes);
	if (body !== null) {
		return { kind: "answered", path, status, statusText, contentType: response.headers.get("content-type"), body };
	}
	await response.body?.cancel().catch(() => {});
	const limit = `${Math.floor(limits.bytes / 1024 / 1024)} MiB`;
	return failed(`The page is larger than ${limit} and was not fetched.`, "Page too large");
}

function isRedirect(status: number): boolean {
	return [301, 302, 303, 307, 308].includes(status);
}

function toFailure({ kind, message }: NetworkFailure): PageAnswer {
	switch (kind) {
		case "address":
			return failed(
				`The page was not fetched: ${message}. Only public internet addresses are allowed; the user can allow others with agentwire.fetch_allow in the settings.`,
				"Address not allowed",
			);
		case "timeout":
			return timedOut(`The server did not answer in time: ${message}.`);
		case "size":
			return failed(`The page was not fetched: ${message}.`, "Page too large");
		case "connection":
		case "proxy":
		case "configuration":
			return failed(`The page could not be fetched: ${message.replace(/\.$/, "")}.`, "Network error");
	}
}

function timedOut(message: string): PageAnswer {
	return failed(message, "Request timed out");
}

function failed(message: string, brief: string): PageAnswer {
	return { kind: "failed", message, brief };
}
