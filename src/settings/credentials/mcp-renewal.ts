import type { OAuthDiscoveryState } from "@modelcontextprotocol/client";
import { never } from "../../base/abort.ts";
import { inTime, type McpNetwork } from "./mcp-request.ts";
import { McpSignInError } from "./mcp-sign-in-error.ts";
import type { McpTokens } from "./mcp-token-file.ts";
import { typeFault } from "./token-type.ts";

export interface GrantedTokens {
	readonly access_token: string;
	readonly token_type: string;
	readonly refresh_token?: string | undefined;
	readonly scope?: string | undefined;
	readonly expires_in?: number | undefined;
}

/** Empty values count as missing. Throws for a token that cannot be sent. */
export function toPersisted(granted: GrantedTokens, now: number) {
	const { access_token, token_type, refresh_token, scope, expires_in } = granted;
	if (access_token === "") throw new McpSignInError("the authorization server gave an empty token");
	if (!/^[\x21-\x7e]+$/.test(access_token)) {
		throw new McpSignInError("the authorization server gave a token with characters that cannot be sent");
	}
	const fault = typeFault(token_type);
	if (fault !== null) throw new McpSignInError(fault);
	return {
		access_token,
		token_type: token_type || "Bearer",
		...(refresh_token ? { refresh_token } : {}),
		...(scope ? { scope } : {}),
		...(expires_in !== undefined && expires_in > 0 ? { expires_at: Math.floor(now / 1000) + expires_in } : {}),
	};
}

/** Milliseconds before its expiry from which a token is not used. */
const margin = 30_000;

export function isExpired({ expires_at }: McpTokens, now: number): boolean {
	return expires_at !== undefined && expires_at * 1000 - margin <= now;
}

const refusal: ReadonlySet<string> = new Set([
	"invalid_client",
	"invalid_grant",
	"invalid_request",
	"invalid_scope",
	"invalid_target",
	"unauthorized_client",
	"unsupported_grant_type",
	"access_denied",
]);

/** Whether the authorization server rejects these tokens permanently, so that the user must sign in again. */
export async function isRefusal(thrown: unknown): Promise<boolean> {
	const { OAuthError } = await import("@modelcontextprotocol/client");
	return thrown instanceof OAuthError && refusal.has(thrown.code);
}

export interface KnownServer extends Pick<McpTokens, "resource"> {
	readonly authorization_server: NonNullable<McpTokens["authorization_server"]>;
}

/** The part of the authorization server's metadata that is stored. */
export function toKnownServer({
	authorizationServerUrl: address,
	authorizationServerMetadata: metadata,
	resourceMetadata,
}: Pick<
	OAuthDiscoveryState,
	"authorizationServerUrl" | "authorizationServerMetadata" | "resourceMetadata"
>): KnownServer {
	const methods = metadata?.token_endpoint_auth_methods_supported;
	const resource = resourceMetadata?.resource;
	return {
		...(resource === undefined ? {} : { resource }),
		authorization_server: {
			issuer: metadata?.issuer ?? address,
			token_endpoint: metadata?.token_endpoint ?? new URL("/token", address).href,
			...(methods === undefined ? {} : { auth_methods: methods }),
		},
	};
}

/** Requests new tokens for the server with this URL; throws the library's errors. */
export async function renewTokens(
	url: string,
	tokens: McpTokens,
	refreshToken: string,
	network: McpNetwork,
): Promise<McpTokens> {
	const { discoverOAuthServerInfo, refreshAuthorization } = await import("@modelcontextprotocol/client");
	const { authorization_server: persisted, client, resource: persistedResource, scope, wanted } = tokens;
	const { client_id, client_secret, auth_method } = client;
	return await inTime(network, never, async (fetchFn) => {
		const known: KnownServer =
			persisted === undefined
				? toKnownServer(await discoverOAuthServerInfo(url, { fetchFn }))
				: { resource: persistedResource, authorization_server: persisted };
		const { authorization_server: server, resource } = known;
		const granted = await refreshAuthorization(server.issuer, {
			metadata: {
				issuer: server.issuer,
				// Not used here, but required by the type.
				authorization_endpoint: server.token_endpoint,
				token_endpoint: server.token_endpoint,
				response_types_supported: ["code"],
				...(server.auth_methods === undefined ? {} : { token_endpoint_auth_methods_supported: server.auth_methods }),
			},
			clientInformation: {
				client_id,
				...(client_secret === undefined ? {} : { client_secret }),
				...(auth_method === undefined ? {} : { redirect_uris: [], token_endpoint_auth_method: auth_method }),
			},
			refreshToken,
			...(resource === undefined ? {} : { resource }),
			fetchFn,
		});
		return {
			...(scope === undefined ? {} : { scope }),
			...(wanted === undefined ? {} : { wanted }),
			...toPersisted(granted, network.clock.now()),
			...(resource === undefined ? {} : { resource }),
			authorization_server: server,
			client,
		};
	});
}
