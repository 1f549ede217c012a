import { OnFirstUse } from "../../base/on-first-use.ts";
import type { AddressRule } from "./address-rule.ts";
import { isBlockedPort } from "./blocked-ports.ts";
import { createTrust } from "./certificates.ts";
import { type Connector, checkHost, createConnector } from "./connections/connector.ts";
import { systemSockets } from "./connections/sockets.ts";
import { idleLifetime } from "./connections/spare-sockets.ts";
import { acceptedEncodings } from "./exchanges/decoding.ts";
import { type Answer, type ExchangeLimits, exchange } from "./exchanges/exchange.ts";
import { toPlatformResponse } from "./exchanges/platform-response.ts";
import { redirectedRequest, redirectLimit, redirectOf } from "./exchanges/redirects.ts";
import { type RequestParts, toRequestParts } from "./exchanges/request-parts.ts";
import { withoutBrackets } from "./host.ts";
import { NetworkError } from "./network-error.ts";
import type { Fetch, NetworkSettings } from "./network-settings.ts";
import { createProxies, type Proxies, type ProxyServer } from "./proxies/proxies.ts";
import { proxyAuthorization, refusal } from "./proxies/tunnel.ts";
import { failureThroughProxy } from "./readable-failure.ts";

export interface ClientOptions {
	readonly rule: AddressRule | null;
	readonly connectTimeout: number;
	/** Maximum milliseconds of silence before and during the response; 0 for no limit. */
	readonly silenceTimeout: number;
	/** Maximum decoded bytes of a response body; null if the reader enforces a limit. */
	readonly bodyLimit: number | null;
}

export interface Client {
	readonly fetch: Fetch;
	openAhead(url: URL): Promise<void>;
}

export interface Dispatch {
	createClient(options: ClientOptions): Client;
	proxyOf(url: URL): ProxyServer | null;
}

const noProxies: Proxies = { proxyOf: () => null };

export function createDispatch(settings: NetworkSettings): Dispatch {
	const proxies = createProxies(settings.environment);
	const { clock, sockets = systemSockets } = settings;
	const trusted = new OnFirstUse(() => createTrust(settings));

	const forwarderOf = (url: URL): ProxyServer | null => {
		const proxy = proxies.proxyOf(url);
		return url.protocol === "http:" && proxy?.protocol === "http" ? proxy : null;
	};

	return {
		proxyOf: proxies.proxyOf,
		createClient({ rule, connectTimeout, silenceTimeout, bodyLimit }) {
			const connections = { proxies, sockets, clock, trust: () => trusted.get(), rule, connectTimeout };
			const direct = createConnector(connections);
			const toProxy = createConnector({ ...connections, proxies: noProxies, rule: null });
			const limits: ExchangeLimits = { bytes: bodyLimit, silence: silenceTimeout, clock, idleLifetime };

			const ask = (parts: RequestParts): Promise<Answer> => {
				const { url } = parts;
				if (!/^https?:$/.test(url.protocol)) throw new Error(`${url.protocol}// is not requested, only http and https`);
				if (isBlockedPort(url)) throw blockedPort(url.port);
				const proxy = forwarderOf(url);
				if (proxy === null) return send(direct, url, parts, limits);
				checkHost(withoutBrackets(url.hostname), rule);
				return askProxy(toProxy, proxy, parts, limits);
			};

			const follow = async (first: RequestParts): Promise<Response> => {
				let parts = first;
				for (let redirects = 0; ; redirects += 1) {
					const { method, url, redirect } = parts;
					const answer = await ask(parts);
					const next = redirect === "manual" ? null : redirectAfter(answer, url);
					if (next === null) return await toPlatformResponse(answer, { method, url, redirected: redirects > 0 });
					answer.discard();
					if (redirect === "error") throw new Error("the server redirects, which is not allowed here");
					if (redirects >= redirectLimit) throw new Error(`the server redirects more than ${redirectLimit} times`);
					parts = redirectedRequest(parts, answer.status, next);
				}
			};

			return {
				openAhead: async (url) => {
					if (forwarderOf(url) === null) await direct.openAhead(url);
				},
				fetch: async (input, init) => {
					const parts = await toRequestParts(input, init);
					parts.signal.throwIfAborted();
					try {
						return await follow(parts);
					} catch (thrown) {
						if (parts.signal.aborted) throw parts.signal.reason;
						throw new TypeError("fetch failed", { cause: thrown });
					}
				},
			};
		},
	};
}

function redirectAfter(answer: Answer, url: URL): URL | null {
	try {
		return redirectOf(answer.status, answer.headers, url);
	} catch (thrown) {
		answer.discard();
		throw thrown;
	}
}

/** Headers sent unless the request sets them. */
const standardHeaders = { accept: "*/*", "accept-encoding": acceptedEncodings, "user-agent": "agentwire" };

interface Way {
	/** The target of the request line, if it is not the path. */
	readonly target?: string;
	readonly headers?: Readonly<Record<string, string>>;
}

async function send(
	connector: Connector,
	to: URL,
	{ url, method, headers, body, signal }: RequestParts,
	limits: ExchangeLimits,
	way: Way = {},
): Promise<Answer> {
	const socket = await connector.take(to, signal);
	const outgoing = {
		method,
		target: way.target ?? `${url.pathname}${url.search}`,
		headers: {
			host: url.host,
			...standardHeaders,
			...Object.fromEntries(headers),
			...way.headers,
			...lengthOf(method, body),
		},
		body,
	};
	return await exchange(socket, outgoing, limits, signal, (lifetime) => connector.giveBack(to, socket, lifetime));
}

function lengthOf(method: string, body: RequestParts["body"]): Record<string, string> {
	if (body instanceof ReadableStream) return { "transfer-encoding": "chunked" };
	if (body !== null) return { "content-length": String(body.length) };
	return method === "POST" || method === "PUT" ? { "content-length": "0" } : {};
}

/** Sends the request through a proxy, which receives the whole URL and the credentials. */
async function askProxy(
	connector: Connector,
	proxy: ProxyServer,
	parts: RequestParts,
	limits: ExchangeLimits,
): Promise<Answer> {
	const { url } = parts;
	const authorization = proxyAuthorization(proxy);
	const to = new URL(`http://${proxy.host.includes(":") ? `[${proxy.host}]` : proxy.host}:${proxy.port}`);
	const way = {
		target: `${url.origin}${url.pathname}${url.search}`,
		...(authorization === null ? {} : { headers: { "proxy-authorization": authorization } }),
	};
	const answer = await send(connector, to, parts, limits, way).catch((thrown: unknown) => {
		throw parts.signal.aborted ? thrown : failureThroughProxy(thrown, proxy.variable);
	});
	if (answer.status !== 407) return answer;
	answer.discard();
	throw refusal(proxy, url.host, `${answer.status} ${answer.statusText}`.trim());
}

function blockedPort(port: string): NetworkError {
	return new NetworkError(
		"configuration",
		`bad port: ${port} belongs to another protocol, and no HTTP client makes requests to it. Let the server listen on another one`,
	);
}
