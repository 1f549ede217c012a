import { NetworkError } from "../network-error.ts";

export interface RequestParts {
	readonly url: URL;
	readonly method: string;
	readonly headers: Headers;
	readonly body: RequestBody;
	readonly redirect: NonNullable<RequestInit["redirect"]>;
	readonly signal: AbortSignal;
}

/** Bytes can be sent again after a redirect, a stream cannot. */
export type RequestBody = Uint8Array | ReadableStream<Uint8Array> | null;

/** Connection headers, which the client controls. */
const connectionHeaders = ["connection", "expect", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"];

/** These methods become upper case, as in the platform. */
const standardMethods: ReadonlySet<string> = new Set(["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"]);

/** Ignores options that only concern browsers. Throws TypeError, like `fetch`, for invalid requests. */
export async function toRequestParts(
	input: Parameters<typeof fetch>[0],
	init: RequestInit = {},
): Promise<RequestParts> {
	if (typeof input !== "string" && !(input instanceof URL)) {
		throw new TypeError("A Request is not taken here: give its URL and its parts.");
	}
	const url = new URL(input);
	if (url.username !== "" || url.password !== "") {
		throw new TypeError("A URL with a user name or a password in it is not requested.");
	}
	const method = toMethod(init.method ?? "GET");
	const headers = new Headers(init.headers);
	const { type, body } = await toBody(init.body ?? null);
	if (body !== null && (method === "GET" || method === "HEAD")) throw new TypeError(`${method} goes without a body.`);
	if (type !== null && !headers.has("content-type")) headers.set("content-type", type);
	checkHeaders(headers, body);
	return {
		url,
		method,
		headers,
		body,
		redirect: init.redirect ?? "follow",
		signal: init.signal ?? new AbortController().signal,
	};
}

function toMethod(given: string): string {
	const method = standardMethods.has(given.toUpperCase()) ? given.toUpperCase() : given;
	if (/^(?:connect|trace|track)$/i.test(method)) throw new TypeError(`The method ${method} is not requested.`);
	if (!/^[\w!#$%&'*+.^`|~-]+$/.test(method)) throw new TypeError("The method is not valid in HTTP.");
	return method;
}

async function toBody(
	given: RequestInit["body"],
): Promise<{ readonly type: string | null; readonly body: RequestBody }> {
	if (given === null || given === undefined) return { type: null, body: null };
	if (typeof given === "string") return { type: "text/plain;charset=UTF-8", body: Buffer.from(given) };
	if (given instanceof Uint8Array) return { type: null, body: given };
	if (given instanceof ReadableStream) return { type: null, body: given };
	// `Response` serializes forms, parameters, blobs and the rest.
	const carrier = new Response(given);
	return { type: carrier.headers.get("content-type"), body: new Uint8Array(await carrier.arrayBuffer()) };
}

function checkHeaders(headers: Headers, body: RequestBody): void {
	for (const name of connectionHeaders) {
		if (headers.has(name)) {
			throw new NetworkError("configuration", `The header "${name}" cannot be set: it belongs to the connection.`);
		}
	}
	const length = headers.get("content-length");
	headers.delete("content-length");
	const actual = body instanceof Uint8Array ? body.length : 0;
	if (length !== null && !(body instanceof ReadableStream) && Number(length) !== actual) {
		throw new TypeError(`The header content-length says ${length}, and the body has ${actual} bytes.`);
	}
}
