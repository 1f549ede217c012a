// Signs in to a remote MCP server through the user's browser: discovery, registration, PKCE, response, tokens.
import { randomBytes } from "node:crypto";
import type {
	OAuthClientProvider,
	OAuthDiscoveryState,
	StoredOAuthClientInformation,
} from "@modelcontextprotocol/client";
import { type Callback, listenForCallback } from "./mcp-callback.ts";
import { toKnownServer, toPersisted } from "./mcp-renewal.ts";
import { failureText, inTime, isSecure, type McpNetwork } from "./mcp-request.ts";
import { McpSignInError } from "./mcp-sign-in-error.ts";
import type { McpTokens } from "./mcp-token-file.ts";

export interface McpInteraction {
	/** Opens the sign-in page in the browser. Resolves at once. */
	open(address: URL): Promise<void>;
	readonly signal: AbortSignal;
}

/** The sign-in instructions in a server's rejection. */
export interface McpChallenge {
	readonly resourceMetadataUrl?: URL;
	readonly scope?: string;
}

export interface McpClient {
	readonly id: string;
	readonly secret: string | null;
	readonly callbackPort: number | null;
}

/** Signs in at the server with this URL; registers a client if none is given. Throws McpSignInError. */
export async function signIn(
	url: string,
	{ open, signal }: McpInteraction,
	challenge: McpChallenge,
	client: McpClient | null,
	network: McpNetwork,
): Promise<McpTokens> {
	const { auth, fetchToken } = await import("@modelcontextprotocol/client");
	const state = randomBytes(24).toString("base64url");
	const callback = await listen(client?.callbackPort ?? null, state, signal, network);
	try {
		const discovered = await discover(url, challenge, signal, network);
		const flow = createFlow(discovered, callback.redirectUrl, state, client);
		const { resourceMetadataUrl, scope } = challenge;
		await inTime(network, signal, (fetchFn) =>
			auth(flow.provider, {
				serverUrl: url,
				...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
				...(scope === undefined ? {} : { scope }),
				fetchFn,
			}),
		);
		const address = flow.address();
		await open(address);
		const { code, iss } = readAnswer(await callback.answer);
		const { authorizationServerUrl, authorizationServerMetadata: metadata } = discovered;
		const server = toKnownServer(discovered);
		const { resource } = server;
		const granted = await inTime(network, signal, (fetchFn) =>
			fetchToken(flow.provider, authorizationServerUrl, {
				...(metadata === undefined ? {} : { metadata }),
				...(resource === undefined ? {} : { resource }),
				...(iss === null ? {} : { iss }),
				authorizationCode: code,
				fetchFn,
			}),
		);
		return {
			// If the server omits the granted scope, it granted what was requested.
			...toPersisted(
				{ ...granted, scope: granted.scope || address.searchParams.get("scope") || "" },
				network.clock.now(),
			),
			...server,
			client: flow.client(),
		};
	} catch (thrown) {
		if (signal.aborted) throw new McpSignInError("it was interrupted");
		if (thrown instanceof McpSignInError) throw thrown;
		throw new McpSignInError(failureText(thrown), { cause: thrown });
	} finally {
		callback.close();
	}
}

async function listen(
	port: number | null,
	state: string,
	signal: AbortSignal,
	{ clock }: McpNetwork,
): Promise<Callback> {
	try {
		return await listenForCallback({ state, port, signal, clock });
	} catch (thrown) {
		throw new McpSignInError(`cannot wait for the browser's answer: ${failureText(thrown)}`, { cause: thrown });
	}
}

/** Finds the authorization server first: client registration depends on it. */
async function discover(
	url: string,
	{ resourceMetadataUrl }: McpChallenge,
	signal: AbortSignal,
	network: McpNetwork,
): Promise<OAuthDiscoveryState> {
	const { discoverOAuthServerInfo } = await import("@modelcontextprotocol/client");
	const known = resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl };
	const discovered = await inTime(network, signal, (fetchFn) => discoverOAuthServerInfo(url, { ...known, fetchFn }));
	return {
		...discovered,
		...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl: resourceMetadataUrl.href }),
	};
}

interface Flow {
	readonly provider: OAuthClientProvider;
	address(): URL;
	client(): McpTokens["client"];
}

/** The library's callbacks. Nothing is stored until there are tokens, because port and client differ each time. */
function createFlow(
	discovered: OAuthDiscoveryState,
	redirectUrl: string,
	state: string,
	client: McpClient | null,
): Flow {
	let information: StoredOAuthClientInformation | undefined = client === null ? undefined : toInformation(client);
	let verifier = "";
	let address: URL | null = null;
	const authMethod = chooseAuthMethod(discovered.authorizationServerMetadata?.token_endpoint_auth_methods_supported);
	const provider: OAuthClientProvider = {
		redirectUrl,
		clientMetadata: {
			client_name: "agentwire",
			redirect_uris: [redirectUrl],
			grant_types: ["authorization_code", "refresh_token"],
			response_types: ["code"],
			token_endpoint_auth_method: authMethod,
		},
		state: () => state,
		discoveryState: () => discovered,
		clientInformation: () => information,
		saveClientInformation(given) {
			information = given;
		},
		tokens: () => undefined,
		saveTokens() {},
		redirectToAuthorization(given) {
			address = given;
		},
		saveCodeVerifier(given) {
			verifier = given;
		},
		codeVerifier: () => verifier,
	};
	return {
		provider,
		address() {
			// The server chose this address, and the opener accepts more than web pages.
			if (address === null || !/^https?:$/.test(address.protocol)) {
				throw new McpSignInError("the authorization server names no web page to sign in on");
			}
			if (isSecure(address)) return address;
			const page = `${address.origin}${address.pathname}`;
			throw new McpSignInError(`the page to sign in on, ${page}, does not use https, which it must`);
		},
		client() {
			const { client_id = "", client_secret } = information ?? {};
			const method = information === undefined || !("redirect_uris" in information) ? undefined : information;
			const auth_method = method?.token_endpoint_auth_method;
			return {
				client_id,
				...(client_secret ? { client_secret } : {}),
				...(auth_method ? { auth_method } : {}),
			};
		},
	};
}

const toInformation = ({ id, secret }: McpClient): StoredOAuthClientInformation => ({
	client_id: id,
	...(secret === null ? {} : { client_secret: secret }),
});

/** A client on a user's machine has no secret, but some servers require one. */
function chooseAuthMethod(supported: readonly string[] = ["none"]): string {
	const [first = "none"] = ["none", "client_secret_basic", "client_secret_post"].filter((method) =>
		supported.includes(method),
	);
	return first;
}

function readAnswer(answer: URLSearchParams): { readonly code: string; readonly iss: string | null } {
	const code = answer.get("code");
	if (code !== null) return { code, iss: answer.get("iss") };
	const error = answer.get("error") ?? "";
	if (error === "access_denied") throw new McpSignInError("permission was not given");
	const reason = answer.get("error_description") ?? error;
	throw new McpSignInError(reason === "" ? "the authorization server gave no code" : failureText(reason));
}
