// The auth provider of one connection to a remote MCP server: renews stored tokens that have expired or are rejected.
import type { AuthProvider } from "@modelcontextprotocol/client";
import type { Log } from "../../base/log.ts";
import { isExpired, isRefusal, renewTokens } from "./mcp-renewal.ts";
import { failureText, type McpNetwork } from "./mcp-request.ts";
import type { McpTokens } from "./mcp-token-file.ts";
import type { McpTokenStore } from "./mcp-tokens.ts";

export type Renewals = Set<Promise<unknown>>;

export class McpTokenProvider implements AuthProvider {
	readonly #url: string;
	readonly #store: McpTokenStore;
	readonly #network: McpNetwork;
	readonly #log: Log;
	readonly #renewals: Renewals;
	#used: string | null = null;
	/** Why that token could not be renewed before the request; null if it was not tried. */
	#failure: unknown = null;
	/** Renewed tokens that could not be written. */
	#unpersisted: McpTokens | null = null;

	constructor(url: string, store: McpTokenStore, network: McpNetwork, log: Log, renewals: Renewals) {
		this.#url = url;
		this.#store = store;
		this.#network = network;
		this.#log = log;
		this.#renewals = renewals;
	}

	async token(): Promise<string | undefined> {
		this.#failure = null;
		let tokens = await this.#current();
		if (tokens !== null && isExpired(tokens, this.#network.clock.now()) && tokens.refresh_token !== undefined) {
			try {
				tokens = await this.#renew(tokens.access_token);
			} catch (thrown) {
				this.#failure = thrown;
				// The server decides whether they are still valid.
				this.#log.warn("The tokens of an MCP server cannot be renewed", { url: this.#url, error: thrown });
			}
		}
		this.#used = tokens?.access_token ?? null;
		return this.#used ?? undefined;
	}

	async onUnauthorized(): Promise<void> {
		// Retrying an authorization server that just failed would double the wait.
		if (this.#failure !== null) throw this.#failure;
		await this.#renew(this.#used);
	}

	async #current(): Promise<McpTokens | null> {
		return this.#unpersisted ?? (await this.#store.read(this.#url));
	}

	/** Returns valid tokens that replace those with the rejected access token. */
	#renew(rejected: string | null): Promise<McpTokens> {
		const renewal = this.#store
			.exclusively(this.#url, () => this.#renewAlone(rejected))
			.finally(() => this.#renewals.delete(renewal));
		this.#renewals.add(renewal);
		return renewal;
	}

	async #renewAlone(rejected: string | null): Promise<McpTokens> {
		const { UnauthorizedError } = await import("@modelcontextprotocol/client");
		const tokens = await this.#current();
		if (tokens === null) throw new UnauthorizedError("nobody has signed in");
		// Another connection or process has renewed them.
		if (tokens.access_token !== rejected) return tokens;
		const { refresh_token: refreshToken } = tokens;
		if (refreshToken === undefined) throw new UnauthorizedError("the sign-in has expired");
		try {
			const renewed = await renewTokens(this.#url, tokens, refreshToken, this.#network);
			await this.#persist(renewed);
			return renewed;
		} catch (thrown) {
			const text = failureText(thrown);
			if (await isRefusal(thrown)) throw new UnauthorizedError(`the sign-in is no longer valid: ${text}`);
			throw new Error(`the tokens could not be renewed: ${text}`, { cause: thrown });
		}
	}

	async #persist(tokens: McpTokens): Promise<void> {
		try {
			await this.#store.write(this.#url, tokens);
			this.#unpersisted = null;
		} catch (thrown) {
			this.#log.error("Renewed tokens of an MCP server cannot be stored", { url: this.#url, error: thrown });
			this.#unpersisted = tokens;
		}
	}
}
