import type { AuthProvider, FetchLike } from "@modelcontextprotocol/client";
import type { McpNetwork } from "./mcp-request.ts";
import { type McpChallenge, type McpClient, type McpInteraction, signIn } from "./mcp-sign-in.ts";
import type { McpTokenPlace, McpTokens } from "./mcp-token-file.ts";
import { McpTokenProvider, type Renewals } from "./mcp-token-provider.ts";
import { createMcpTokenStore } from "./mcp-tokens.ts";

export interface McpAuthorizationOptions extends McpTokenPlace {
	readonly fetch: FetchLike;
}

export interface McpPermissions {
	readonly scope: string;
	readonly resourceMetadataUrl?: URL;
}

export interface McpAuthorization {
	/** Null if signed out. Renews tokens unattended; if that is refused, throws the library's UnauthorizedError. */
	provider(url: string): Promise<AuthProvider | null>;
	/** Stores permissions whose absence made the server reject a request, if a sign-in without them exists. Never rejects. */
	needs(url: string, permissions: McpPermissions): Promise<void>;
	/** Resolves when no renewal is in progress: exiting earlier may lose the sign-in. Never rejects. */
	settled(): Promise<void>;
	/** The challenge with the permissions to request in a new sign-in; null if none are known to be missing. */
	wanted(url: string): Promise<McpChallenge | null>;
	/** Forgets the missing permissions until the server requires them again: the authorization server may not grant them. */
	giveUpWanted(url: string): Promise<void>;
	/** Signs in interactively and replaces the stored tokens. Throws McpSignInError. */
	authorize(
		url: string,
		interaction: McpInteraction,
		challenge?: McpChallenge,
		/** Null registers a client. */
		client?: McpClient | null,
	): Promise<void>;
	forget(url: string): Promise<void>;
}

/** The tokens are in the share directory, where other processes renew them too. */
export function createMcpAuthorization(options: McpAuthorizationOptions): McpAuthorization {
	const { clock, log, fetch } = options;
	const store = createMcpTokenStore(options);
	const network: McpNetwork = { clock, fetch };
	const renewals: Renewals = new Set();

	return {
		provider: async (url) =>
			(await store.read(url)) === null ? null : new McpTokenProvider(url, store, network, log, renewals),
		async settled() {
			await Promise.allSettled(renewals);
		},
		async needs(url, permissions) {
			try {
				await store.exclusively(url, async () => {
					const tokens = await store.read(url);
					const wanted = tokens === null ? null : toWanted(tokens, permissions);
					if (tokens !== null && wanted !== null) await store.write(url, { ...tokens, wanted });
				});
			} catch (thrown) {
				log.error("The permissions that an MCP server asks for cannot be stored", { url, error: thrown });
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

/** Maximum characters of stored permissions: a server that keeps requiring more could fill the disk. */
const wantedLimit = 2048;

/** Merges the required permissions with the stored ones; null if nothing is new, or the result is too long. */
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

const toWords = (scope = "") => scope.split(" ").filter((word) => word !== "");
