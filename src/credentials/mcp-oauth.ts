// The authorization of remote MCP servers: tokens for their connections, renewed in time, and signing in and out.
import type { AuthProvider, FetchLike } from "@modelcontextprotocol/client";
import { isExpired, isRefusal, renewTokens } from "./mcp-renewal.ts";
import { failureText, type McpNetwork } from "./mcp-request.ts";
import { type McpChallenge, type McpClient, type McpInteraction, signIn } from "./mcp-sign-in.ts";
import { createMcpTokenStore, type McpTokenPlace, type McpTokens } from "./mcp-tokens.ts";

export interface McpAuthorizationOptions extends McpTokenPlace {
	/** For the requests to authorization servers. */
	readonly fetch: FetchLike;
}

/** What a server wants a sign-in to allow. */
export interface McpPermissions {
	/** Words with spaces between them. */
	readonly scope: string;
	readonly resourceMetadataUrl?: URL;
}

export interface McpAuthorization {
	/**
	 * For a transport to the server with this URL; null when nobody has signed in. It renews tokens, with no person's help:
	 * what the authorization server refuses becomes an UnauthorizedError of the library, and deletes nothing.
	 */
	provider(url: string): Promise<AuthProvider | null>;
	/** Keeps what the server refused something for the lack of, where there is a sign-in that does not have it. Never rejects. */
	needs(url: string, permissions: McpPermissions): Promise<void>;
	/** What a person has to sign in with anew, to allow that as well; null when the sign-in lacks nothing that is known. */
	wanted(url: string): Promise<McpChallenge | null>;
	/** Asks for that no more until the server does again: the authorization server may not give it. */
	giveUpWanted(url: string): Promise<void>;
	/** Signs in with a person's help and keeps the tokens in place of earlier ones. Throws McpSignInError. */
	authorize(
		url: string,
		interaction: McpInteraction,
		challenge?: McpChallenge,
		/** Null to register one. */
		client?: McpClient | null,
	): Promise<void>;
	/** Deletes the tokens; fine when there are none. */
	forget(url: string): Promise<void>;
}

/** The tokens lie in the share directory, where other processes renew them too. */
export function createMcpAuthorization(options: McpAuthorizationOptions): McpAuthorization {
	const { clock, log, fetch } = options;
	const store = createMcpTokenStore(options);
	const network: McpNetwork = { clock, fetch };

	const createProvider = (url: string): AuthProvider => {
		/** The token of the last request. */
		let used: string | null = null;
		/** Renewed ones that the disk did not take. */
		let unpersisted: McpTokens | null = null;
		const current = async () => unpersisted ?? (await store.read(url));

		const persist = async (tokens: McpTokens): Promise<void> => {
			try {
				await store.write(url, tokens);
				unpersisted = null;
			} catch (thrown) {
				log.error("Renewed tokens of an MCP server cannot be stored", { url, error: thrown });
				unpersisted = tokens;
			}
		};

		/** The tokens that are valid in place of those with the rejected access token. */
		const renew = (rejected: string | null): Promise<McpTokens> =>
			store.exclusively(url, async () => {
				const { UnauthorizedError } = await import("@modelcontextprotocol/client");
				const tokens = await current();
				if (tokens === null) throw new UnauthorizedError("nobody has signed in");
				// Another connection, or another process, was faster.
				if (tokens.access_token !== rejected) return tokens;
				const { refresh_token: refreshToken } = tokens;
				if (refreshToken === undefined) throw new UnauthorizedError("the sign-in has expired");
				try {
					const renewed = await renewTokens(url, tokens, refreshToken, network);
					await persist(renewed);
					return renewed;
				} catch (thrown) {
					const text = failureText(thrown);
					if (await isRefusal(thrown)) throw new UnauthorizedError(`the sign-in is no longer valid: ${text}`);
					throw new Error(`the tokens could not be renewed: ${text}`, { cause: thrown });
				}
			});

		return {
			async token() {
				let tokens = await current();
				if (tokens !== null && isExpired(tokens, clock.now()) && tokens.refresh_token !== undefined) {
					try {
						tokens = await renew(tokens.access_token);
					} catch (thrown) {
						// Whether they are good for something still is the server's to say.
						log.warn("The tokens of an MCP server cannot be renewed", { url, error: thrown });
					}
				}
				used = tokens?.access_token ?? null;
				return used ?? undefined;
			},
			async onUnauthorized() {
				await renew(used);
			},
		};
	};

	return {
		provider: async (url) => ((await store.read(url)) === null ? null : createProvider(url)),
		async needs(url, permissions) {
			try {
				await store.exclusively(url, async () => {
					const tokens = await store.read(url);
					const wanted = tokens === null ? null : toWanted(tokens, permissions);
					if (tokens !== null && wanted !== null) await store.write(url, { ...tokens, wanted });
				});
			} catch (thrown) {
				log.error("What an MCP server wants a sign-in to allow cannot be stored", { url, error: thrown });
			}
		},
		async wanted(url) {
			const { scope, wanted } = (await store.read(url)) ?? {};
			if (wanted === undefined) return null;
			const { resource_metadata: metadata = "" } = wanted;
			return {
				scope: [...toWords(scope), ...toWords(wanted.scope)].join(" "),
				...(URL.canParse(metadata) ? { resourceMetadataUrl: new URL(metadata) } : {}),
			};
		},
		giveUpWanted: (url) =>
			store.exclusively(url, async () => {
				const tokens = await store.read(url);
				if (tokens?.wanted === undefined) return;
				const { wanted: _, ...others } = tokens;
				await store.write(url, others);
			}),
		async authorize(url, interaction, challenge = {}, client = null) {
			const tokens = await signIn(url, interaction, challenge, client, network);
			await store.exclusively(url, () => store.write(url, tokens));
		},
		forget: (url) => store.exclusively(url, () => store.remove(url)),
	};
}

/** Characters of what servers want that are kept: one that wants ever more could fill the disk. */
const wantedLimit = 2048;

/** What is wanted now, with what was before; null when that is nothing new, or too much. */
function toWanted(tokens: McpTokens, { scope, resourceMetadataUrl }: McpPermissions): McpTokens["wanted"] | null {
	const granted = toWords(tokens.scope);
	const known = toWords(tokens.wanted?.scope);
	const lacking = toWords(scope).filter((word) => !granted.includes(word) && !known.includes(word));
	const all = [...known, ...lacking].join(" ");
	if (lacking.length === 0 || all.length > wantedLimit) return null;
	const metadata = resourceMetadataUrl?.href ?? tokens.wanted?.resource_metadata;
	return {
		scope: all,
		...(metadata === undefined ? {} : { resource_metadata: metadata }),
	};
}

/** The permissions in a list of them. */
const toWords = (scope = "") => scope.split(" ").filter((word) => word !== "");
