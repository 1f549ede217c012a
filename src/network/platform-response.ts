// The answers of the HTTP client as those of the platform: libraries ask whether something is a `Response`.
import type { Response as LibraryResponse } from "undici";

/** Whose body it is. The client ends the body of an answer that nobody holds any more, read or not. */
const owners = new WeakMap<ReadableStream, LibraryResponse>();

/** Statuses that the platform lets no body go with. */
const withoutBody: ReadonlySet<number> = new Set([204, 205, 304]);

/** The same answer; its body is the same stream, and read no sooner. */
export function toPlatformResponse(response: LibraryResponse): Response {
	const { status, statusText, headers, body, url, redirected } = response;
	if (body !== null) owners.set(body, response);
	// Servers are free to answer what the platform lets nobody make.
	const isOrdinary = status >= 200 && status <= 599;
	const made = new Response(withoutBody.has(status) ? null : body, {
		status: isOrdinary ? status : 200,
		statusText,
		headers: [...headers],
	});
	return Object.defineProperties(made, {
		url: { value: url },
		redirected: { value: redirected },
		...(isOrdinary ? {} : { status: { value: status }, ok: { value: false } }),
	});
}
