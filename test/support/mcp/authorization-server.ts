// An authorization server as a table of answers: registration, an authorize page where the person is signed in at once,
// tokens with PKCE, renewal with rotation. Written from RFC 6749, 7591, 7636, 8414, 8707 and 9207.
import { createHash, randomUUID } from "node:crypto";

export interface AuthorizationServerOptions {
	/** Seconds; not sent when null. Default 3600. */
	readonly lifetime?: number | null;
	/** How clients show who they are at the token endpoint. Default `none`. */
	readonly authMethod?: "none" | "client_secret_basic" | "client_secret_post";
	/** Where people are sent to sign in, if not here. */
	readonly authorizationEndpoint?: string;
	/** Milliseconds before the token endpoint answers. Default 0. */
	readonly tokenDelay?: number;
	/** A permission that may be requested in addition to the usual one. */
	readonly furtherScope?: string;
	/** Whether the tokens say what they are good for. Default true. */
	readonly reportsScope?: boolean;
}

/** What the next requests meet; for a test to set. */
export interface Conduct {
	/** The person gives no permission. */
	denies: boolean;
	/** The token endpoint fails with this status. */
	tokenStatus: number | null;
	/** The answers in the browser come in the name of another issuer. */
	mixesUp: boolean;
}

export interface Answer {
	readonly status: number;
	readonly headers?: Readonly<Record<string, string>>;
	readonly body: string;
}

export interface AuthorizationServer {
	readonly conduct: Conduct;
	/** Every request to the token endpoint so far: what for, and the error it got. */
	readonly grants: readonly { readonly type: string; readonly error: string | null }[];
	/** Registered clients, as they described themselves. */
	readonly registrations: readonly Readonly<Record<string, unknown>>[];
	metadata(): Answer;
	register(body: string): Answer;
	authorize(query: URLSearchParams): Answer;
	exchange(body: string, authorization: string | undefined): Promise<Answer>;
	isGood(accessToken: string): boolean;
	/** The permissions of a good token. */
	scopesOf(accessToken: string): readonly string[];
	/** From now on all access tokens that are out are rejected. */
	expireTokens(): void;
	/** From now on nothing that was given to clients is good for anything. */
	revokeAll(): void;
}

export const answerJson = (status: number, value: unknown): Answer => ({
	status,
	headers: { "content-type": "application/json" },
	body: JSON.stringify(value),
});

interface Grant {
	readonly clientId: string;
	/** All that came of one sign-in. */
	readonly family: string;
	readonly scope: string;
}

interface Code extends Grant {
	readonly redirectUri: string;
	readonly challenge: string;
}

/** For one resource. */
export function createAuthorizationServer(
	origin: string,
	resource: string,
	scope: string,
	options: AuthorizationServerOptions,
): AuthorizationServer {
	const { lifetime = 3600, authMethod = "none", tokenDelay = 0, furtherScope = scope, reportsScope = true } = options;
	const conduct: Conduct = { denies: false, tokenStatus: null, mixesUp: false };
	const clients = new Map<string, { readonly secret: string | null; readonly redirectUris: unknown }>();
	const codes = new Map<string, Code>();
	const accessTokens = new Map<string, Grant>();
	const refreshTokens = new Map<string, Grant>();
	const spent = new Map<string, Grant>();
	const grants: { type: string; error: string | null }[] = [];
	const registrations: Readonly<Record<string, unknown>>[] = [];

	const issue = (grant: Grant) => {
		const [access, refresh] = [`access-${randomUUID()}`, `refresh-${randomUUID()}`];
		accessTokens.set(access, grant);
		refreshTokens.set(refresh, grant);
		const expiry = lifetime === null ? {} : { expires_in: lifetime };
		const delivered = reportsScope ? { scope: grant.scope } : {};
		return { access_token: access, token_type: "Bearer", refresh_token: refresh, ...delivered, ...expiry };
	};

	const clientOf = (form: URLSearchParams, authorization = ""): string | null => {
		const [basicId, basicSecret] = Buffer.from(authorization.replace(/^Basic /, ""), "base64")
			.toString()
			.split(":");
		const isBasic = authMethod === "client_secret_basic";
		const id = (isBasic ? basicId : form.get("client_id")) ?? "";
		const secret = (isBasic ? basicSecret : form.get("client_secret")) ?? null;
		const client = clients.get(id);
		return client !== undefined && client.secret === secret ? id : null;
	};

	const redeem = (form: URLSearchParams, clientId: string) => {
		const code = codes.get(form.get("code") ?? "");
		codes.delete(form.get("code") ?? "");
		const challenge = createHash("sha256")
			.update(form.get("code_verifier") ?? "")
			.digest("base64url");
		const isFit =
			code?.clientId === clientId && code.redirectUri === form.get("redirect_uri") && code.challenge === challenge;
		return isFit ? issue(code) : "invalid_grant";
	};

	const rotate = (token: string, clientId: string) => {
		const twice = spent.get(token);
		if (twice !== undefined) {
			// One of the two who used it has stolen it: neither is to be trusted.
			for (const [other, { family }] of refreshTokens) if (family === twice.family) refreshTokens.delete(other);
			return "invalid_grant";
		}
		const known = refreshTokens.get(token);
		if (known?.clientId !== clientId) return "invalid_grant";
		refreshTokens.delete(token);
		spent.set(token, known);
		return issue(known);
	};

	/** An error code, or the tokens. */
	const grant = (form: URLSearchParams, authorization: string | undefined) => {
		const clientId = clientOf(form, authorization);
		if (clientId === null) return "invalid_client";
		if (form.get("resource") !== resource) return "invalid_target";
		if (form.get("grant_type") === "authorization_code") return redeem(form, clientId);
		if (form.get("grant_type") === "refresh_token") return rotate(form.get("refresh_token") ?? "", clientId);
		return "unsupported_grant_type";
	};

	return {
		conduct,
		grants,
		registrations,
		metadata: () =>
			answerJson(200, {
				issuer: origin,
				authorization_endpoint: options.authorizationEndpoint ?? `${origin}/authorize`,
				token_endpoint: `${origin}/token`,
				registration_endpoint: `${origin}/register`,
				response_types_supported: ["code"],
				code_challenge_methods_supported: ["S256"],
				token_endpoint_auth_methods_supported: [authMethod],
				authorization_response_iss_parameter_supported: true,
			}),
		register(body) {
			const metadata: Record<string, unknown> = JSON.parse(body);
			registrations.push(metadata);
			if (metadata["token_endpoint_auth_method"] !== authMethod) {
				return answerJson(400, { error: "invalid_client_metadata" });
			}
			const secret = authMethod === "none" ? null : randomUUID();
			const clientId = randomUUID();
			clients.set(clientId, { secret, redirectUris: metadata["redirect_uris"] });
			const secrets = secret === null ? {} : { client_secret: secret, client_secret_expires_at: 0 };
			return answerJson(201, { ...metadata, client_id: clientId, ...secrets });
		},
		authorize(query) {
			const get = (name: string) => query.get(name) ?? "";
			const uris = clients.get(get("client_id"))?.redirectUris;
			const isFit = [
				Array.isArray(uris) && uris.includes(get("redirect_uri")),
				get("response_type") === "code",
				get("code_challenge_method") === "S256",
				get("resource") === resource,
				get("scope") === scope || get("scope") === `${scope} ${furtherScope}`,
			];
			if (isFit.includes(false)) return { status: 400, body: `The request does not fit: ${isFit}` };
			const target = new URL(get("redirect_uri"));
			target.searchParams.set("state", get("state"));
			target.searchParams.set("iss", conduct.mixesUp ? "https://other.example" : origin);
			if (conduct.denies) target.searchParams.set("error", "access_denied");
			else {
				const code = randomUUID();
				const grant = { clientId: get("client_id"), family: randomUUID(), scope: get("scope") };
				codes.set(code, { ...grant, redirectUri: get("redirect_uri"), challenge: get("code_challenge") });
				target.searchParams.set("code", code);
			}
			return { status: 302, headers: { location: target.href }, body: "" };
		},
		async exchange(body, authorization) {
			const form = new URLSearchParams(body);
			const type = form.get("grant_type") ?? "";
			if (tokenDelay > 0) await new Promise((resolve) => setTimeout(resolve, tokenDelay));
			if (conduct.tokenStatus !== null) {
				grants.push({ type, error: String(conduct.tokenStatus) });
				return { status: conduct.tokenStatus, body: "<html>Something went wrong.</html>" };
			}
			const result = grant(form, authorization);
			const error = typeof result === "string" ? result : null;
			grants.push({ type, error });
			return error === null ? answerJson(200, result) : answerJson(400, { error, error_description: "It is no good." });
		},
		isGood: (accessToken) => accessTokens.has(accessToken),
		scopesOf: (accessToken) => accessTokens.get(accessToken)?.scope.split(" ") ?? [],
		expireTokens: () => accessTokens.clear(),
		revokeAll() {
			accessTokens.clear();
			refreshTokens.clear();
		},
	};
}
