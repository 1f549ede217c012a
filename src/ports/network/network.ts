// Proxies, certificates, persistent connections and address rules. Loaded with the first request.
import type { AddressRule } from "./address-rule.ts";
import type { Client, ClientOptions, Dispatch } from "./dispatch.ts";
import type { Fetch, NetworkSettings } from "./network-settings.ts";

export interface GuardOptions extends Omit<ClientOptions, "rule"> {
	/** Checked before each connection, including redirects. Proxies resolve names themselves, so only names are checked. */
	readonly rule: AddressRule;
}

export interface Network {
	/** For URLs from settings: providers, services, sign-in. Connections stay open for the next request. */
	readonly fetch: Fetch;
	/** Like `fetch`, without a silence limit, for event streams and similar responses. */
	readonly patientFetch: Fetch;
	/** For URLs from other sources. Create it once, not for each request. */
	guarded(options: GuardOptions): Fetch;
	/** The variable that names the proxy for a URL; null if none. Rejects if it is unusable. */
	proxyVariable(url: URL): Promise<string | null>;
	/** Opens a connection for the next `fetch` to the URL's origin. Rejects if that fails. */
	openConnection(url: URL): Promise<void>;
}

/** Fallback timeouts in milliseconds, for requests without a deadline. */
const standardOptions: ClientOptions = {
	rule: null,
	connectTimeout: 10_000,
	silenceTimeout: 300_000,
	bodyLimit: 128 * 1024 * 1024,
};

const patientOptions: ClientOptions = { ...standardOptions, silenceTimeout: 0, bodyLimit: null };

export function createNetwork(settings: NetworkSettings): Network {
	let loading: Promise<Dispatch> | null = null;
	const load = (): Promise<Dispatch> => {
		loading ??= import("./dispatch.ts").then(({ createDispatch }) => createDispatch(settings));
		return loading;
	};
	const createClient = (options: ClientOptions): (() => Promise<Client>) => {
		let client: Promise<Client> | null = null;
		return () => {
			client ??= load().then((dispatch) => dispatch.createClient(options));
			return client;
		};
	};
	const standard = createClient(standardOptions);
	const patient = createClient(patientOptions);
	return {
		fetch: async (input, init) => (await standard()).fetch(input, init),
		patientFetch: async (input, init) => (await patient()).fetch(input, init),
		guarded(options) {
			const client = createClient(options);
			return async (input, init) => (await client()).fetch(input, init);
		},
		async proxyVariable(url) {
			return (await load()).proxyOf(url)?.variable ?? null;
		},
		async openConnection(url) {
			await (await standard()).openAhead(url);
		},
	};
}
