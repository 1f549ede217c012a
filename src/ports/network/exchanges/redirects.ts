import type { RequestParts } from "./request-parts.ts";

export const redirectLimit = 20;

const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Headers that describe a body, omitted if the body is not sent again. */
const bodyHeaders = ["content-encoding", "content-language", "content-location", "content-type"];
const originHeaders = ["authorization", "cookie", "host", "proxy-authorization"];

export function redirectOf(status: number, headers: Headers, from: URL): URL | null {
	const location = redirectStatuses.has(status) ? headers.get("location") : null;
	if (location === null) return null;
	// Servers send non-ASCII characters as UTF-8.
	const text = Buffer.from(location, "latin1").toString("utf8");
	if (!URL.canParse(text, from.href)) throw new Error("the server redirects to an invalid address");
	const url = new URL(text, from);
	if (url.hash === "") url.hash = from.hash;
	return url;
}

export function redirectedRequest(parts: RequestParts, status: number, url: URL): RequestParts {
	if (!/^https?:$/.test(url.protocol))
		throw new Error(`the server redirects to ${url.protocol}//, which is not requested`);
	if (url.username !== "" || url.password !== "") {
		throw new Error("the server redirects to an address with a user name or a password in it");
	}
	if (status !== 303 && parts.body instanceof ReadableStream) {
		throw new Error("the server redirects a request whose body cannot be sent twice");
	}
	const headers = new Headers(parts.headers);
	const isRewritten =
		status === 303
			? parts.method !== "GET" && parts.method !== "HEAD"
			: (status === 301 || status === 302) && parts.method === "POST";
	if (isRewritten) for (const name of bodyHeaders) headers.delete(name);
	if (url.origin !== parts.url.origin) for (const name of originHeaders) headers.delete(name);
	return { ...parts, url, headers, ...(isRewritten ? { method: "GET", body: null } : {}) };
}
