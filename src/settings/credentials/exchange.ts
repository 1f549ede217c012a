// One request with a deadline and a size limit, without following redirects.
import type { Clock } from "../../base/clock.ts";
import { redactSecrets } from "../../base/redaction.ts";
import { toNetworkFailure } from "../../ports/network/network-error.ts";

export interface PlatformPort {
	readonly fetch: typeof globalThis.fetch;
	readonly clock: Clock;
	readonly version: string;
}

export interface PlatformRequest {
	readonly url: URL;
	/** Sent as a form; absent for a GET. */
	readonly form?: Readonly<Record<string, string>>;
	readonly accessToken?: string;
}

export type PlatformAnswer =
	| { readonly kind: "answered"; readonly status: number; readonly body: unknown }
	| { readonly kind: "unreachable"; readonly reason: string };

/** Milliseconds for a request and its complete response. */
export const requestTimeout = 15_000;
const bodyLimit = 1024 * 1024;

/** Appends a path to a base URL, keeping the base's query; null unless the base is an http(s) URL without credentials. */
export function toAddress(base: string, path: string): URL | null {
	const url = URL.canParse(base) ? new URL(base) : null;
	if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") return null;
	url.pathname = `${url.pathname.replace(/\/+$/, "")}${path}`;
	return url;
}

/** Sends the request once. Never rejects; an abort is reported as unreachable. */
export async function ask(port: PlatformPort, request: PlatformRequest, signal: AbortSignal): Promise<PlatformAnswer> {
	const controller = new AbortController();
	const abort = () => controller.abort();
	signal.addEventListener("abort", abort, { once: true });
	if (signal.aborted) abort();
	let isLate = false;
	const withdraw = port.clock.after(requestTimeout, () => {
		isLate = true;
		abort();
	});
	try {
		const response = await port.fetch(request.url, toInit(port, request, controller.signal));
		return { kind: "answered", status: response.status, body: await readJson(response) };
	} catch (thrown) {
		const reason = isLate ? `no answer for ${requestTimeout / 1000} s` : toNetworkFailure(thrown).message;
		return { kind: "unreachable", reason: `${request.url.host}: ${redactSecrets(reason)}` };
	} finally {
		withdraw();
		signal.removeEventListener("abort", abort);
		abort();
	}
}

function toInit({ version }: PlatformPort, { form, accessToken }: PlatformRequest, signal: AbortSignal): RequestInit {
	const headers = new Headers({ accept: "application/json", "user-agent": `agentwire/${version}` });
	if (accessToken !== undefined) headers.set("authorization", `Bearer ${accessToken}`);
	// A redirect would send the tokens to an address chosen by the response.
	const common = { headers, signal, redirect: "manual" } as const;
	return form === undefined ? common : { ...common, method: "POST", body: new URLSearchParams(form) };
}

async function readJson(response: Response): Promise<unknown> {
	if (response.body === null) return null;
	const reader = response.body.getReader();
	const pieces: Uint8Array[] = [];
	for (let length = 0; length <= bodyLimit; ) {
		const { done, value } = await reader.read();
		if (done) return parse(Buffer.concat(pieces).toString("utf8"));
		pieces.push(value);
		length += value.length;
	}
	return null;
}

function parse(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return null;
	}
}
