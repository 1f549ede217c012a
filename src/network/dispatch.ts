// The HTTP client behind `Network`: which connection a request takes, redirects included. Loaded with the first request.
import type { SecureContext } from "node:tls";
import { Agent, type Dispatcher, fetch, FormData as LibraryFormData, type RequestInit as LibraryInit } from "undici";
import type { AddressRule } from "./address-rule.ts";
import { createTrust } from "./certificates.ts";
import { checkHost, createConnector } from "./connector.ts";
import { withoutBrackets } from "./host.ts";
import type { Fetch, NetworkSettings } from "./network.ts";
import { toPlatformResponse } from "./platform-response.ts";
import { createProxies, type Proxies, type ProxyServer } from "./proxies.ts";
import { systemSockets } from "./sockets.ts";
import { idleLifetime } from "./spare-sockets.ts";
import { proxyAuthorization, refusal } from "./tunnel.ts";

export interface ClientOptions {
	readonly rule: AddressRule | null;
	/** Milliseconds until a connection must be there. */
	readonly connectTimeout: number;
	/** Milliseconds of silence until the answer begins, and within it. */
	readonly silenceTimeout: number;
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
	let trusting: Promise<SecureContext | null> | null = null;
	const trust = () => {
		trusting ??= createTrust(settings).catch((thrown: unknown) => {
			trusting = null;
			throw thrown;
		});
		return trusting;
	};

	/** The proxy that is sent the whole request instead of being asked for a way to the host; null for none. */
	const forwarderOf = (url: URL): ProxyServer | null => {
		const proxy = proxies.proxyOf(url);
		return url.protocol === "http:" && proxy?.protocol === "http" ? proxy : null;
	};

	return {
		proxyOf: proxies.proxyOf,
		createClient({ rule, connectTimeout, silenceTimeout }) {
			const connections = { proxies, sockets, clock, trust, rule, connectTimeout };
			const connector = createConnector(connections);
			const toProxy = createConnector({ ...connections, proxies: noProxies, rule: null });
			const timeouts = { headersTimeout: silenceTimeout, bodyTimeout: silenceTimeout, keepAliveTimeout: idleLifetime };
			const direct = new Agent({ ...timeouts, connect: connector.connect });
			const forwarding = new Agent({ ...timeouts, connect: toProxy.connect });
			// Asked for each hop of a redirect anew.
			const dispatcher = direct.compose((dispatch): Dispatcher["dispatch"] => (options, handler) => {
				const url = new URL(String(options.origin));
				const proxy = forwarderOf(url);
				if (proxy === null) return dispatch(options, handler);
				checkHost(withoutBrackets(url.hostname), rule);
				return forwarding.dispatch(toForwarded(options, url, proxy), withRefusal(handler, url, proxy));
			});
			return {
				openAhead: async (url) => {
					if (forwarderOf(url) === null) await connector.openAhead(url);
				},
				fetch: async (input, init) => {
					if (typeof input !== "string" && !(input instanceof URL)) {
						throw new TypeError("A Request is not taken here: give its URL and its parts.");
					}
					return toPlatformResponse(await fetch(input, { ...toLibraryInit(init), dispatcher }));
				},
			};
		},
	};
}

/** A request as a proxy takes it that is to make it in our place: with the whole URL, and who asks. */
function toForwarded(options: Dispatcher.DispatchOptions, url: URL, proxy: ProxyServer): Dispatcher.DispatchOptions {
	const authorization = proxyAuthorization(proxy);
	return {
		...options,
		origin: `http://${proxy.host.includes(":") ? `[${proxy.host}]` : proxy.host}:${proxy.port}`,
		path: `${url.origin}${options.path}`,
		headers: {
			// A record, as `fetch` makes it.
			...options.headers,
			host: url.host,
			...(authorization === null ? {} : { "proxy-authorization": authorization }),
		},
	};
}

/** An answer by which the proxy wants to know who asks is dropped by `fetch` without a word; this says what it was. */
function withRefusal(handler: Dispatcher.DispatchHandler, url: URL, proxy: ProxyServer): Dispatcher.DispatchHandler {
	const { onResponseStart } = handler;
	handler.onResponseStart = (controller, status, headers, text) => {
		if (status === 407) throw refusal(proxy, url.host, `${status} ${text ?? ""}`.trim());
		onResponseStart?.call(handler, controller, status, headers, text);
	};
	return handler;
}

type Given<Value> = Exclude<Value, undefined>;

/** The platform and the library declare requests apart. What a browser alone would heed is left out. */
function toLibraryInit({ method, headers, body, signal, redirect, duplex }: RequestInit = {}): LibraryInit {
	return {
		...(method === undefined ? {} : { method }),
		...(headers === undefined ? {} : { headers: [...new Headers(headers)] }),
		...(body === undefined ? {} : { body: toLibraryBody(body) }),
		...(signal === undefined ? {} : { signal }),
		...(redirect === undefined ? {} : { redirect }),
		...(duplex === undefined ? {} : { duplex }),
	};
}

/** Of the values only forms are not alike. */
function toLibraryBody(body: Given<RequestInit["body"]>): Given<LibraryInit["body"]> {
	if (typeof body !== "object" || !(body instanceof FormData)) return body;
	const form = new LibraryFormData();
	for (const [name, value] of body) form.append(name, value);
	return form;
}
