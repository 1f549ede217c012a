import * as v from "valibot";
import { withAdmissionNote } from "../../base/client-admission.ts";
import { isRecord } from "../../base/json.ts";
import { redactSecrets } from "../../base/redaction.ts";
import { beginning } from "../../base/text/well-formed.ts";
import { ask, type PlatformPort, toAddress } from "./exchange.ts";
import type { Platform } from "./platform.ts";
import type { Tokens } from "./token-file.ts";
import { typeFault } from "./token-type.ts";

export type Grant =
	| { readonly kind: "granted"; readonly tokens: Tokens }
	/** The platform refused, or returned an unusable response; `error` is a standard code or our own. */
	| { readonly kind: "refused"; readonly error: string; readonly reason: string }
	/** A transient failure; a later attempt may succeed. */
	| { readonly kind: "failed"; readonly reason: string };

const grantSchema = v.object({
	access_token: v.pipe(v.string(), v.regex(/^[\x21-\x7e]+$/)),
	refresh_token: v.fallback(v.string(), ""),
	expires_in: v.fallback(v.pipe(v.union([v.number(), v.string()]), v.toNumber(), v.finite(), v.minValue(0)), 0),
	scope: v.fallback(v.string(), ""),
	token_type: v.fallback(v.string(), "Bearer"),
});

const reasonLimit = 500;

export interface GrantProof {
	readonly type: "refresh_token" | "urn:ietf:params:oauth:grant-type:device_code";
	readonly name: "refresh_token" | "device_code";
	readonly value: string;
}

/** Sends one request; reasons never contain the proof. Never rejects. */
export async function requestGrant(
	port: PlatformPort,
	platform: Platform,
	proof: GrantProof,
	signal: AbortSignal,
): Promise<Grant> {
	const url = toAddress(platform.oauthHost, "/api/oauth/token");
	if (url === null) return { kind: "refused", error: "invalid_host", reason: invalidHost };
	const form = { client_id: platform.clientId, grant_type: proof.type, [proof.name]: proof.value };
	const answer = await ask(port, { url, form }, signal);
	if (answer.kind === "unreachable") return { kind: "failed", reason: answer.reason };
	const { status, body } = answer;
	if (status === 200) return toGranted(body, port.clock.now(), url.host);
	const { error, description } = readError(body, proof.value);
	const reason = withAdmissionNote(status, description ?? error ?? `${url.host} answered with HTTP ${status}`);
	const isRefusal = status === 401 || status === 403 || (status === 400 && error !== null);
	return isRefusal ? { kind: "refused", error: error ?? "", reason } : { kind: "failed", reason };
}

/** The error code for a token type other than `Bearer`. */
export const unsupportedType = "unsupported_token_type";

export const invalidHost = "the sign-in server is not an http(s) URL without credentials";

function toGranted(body: unknown, now: number, host: string): Grant {
	const parsed = v.safeParse(grantSchema, body);
	if (!parsed.success) return { kind: "failed", reason: `${host} sent no access token` };
	const { access_token, refresh_token, expires_in, scope, token_type } = parsed.output;
	const fault = typeFault(token_type);
	if (fault !== null) return { kind: "refused", error: unsupportedType, reason: fault };
	return {
		kind: "granted",
		tokens: {
			accessToken: access_token,
			refreshToken: refresh_token,
			expiresAt: expires_in === 0 ? 0 : now / 1000 + expires_in,
			expiresIn: expires_in,
			scope,
			tokenType: token_type,
		},
	};
}

/** The code and message of an error response, without the secret that was sent. */
export function readError(
	body: unknown,
	secret: string,
): { readonly error: string | null; readonly description: string | null } {
	if (!isRecord(body)) return { error: null, description: null };
	const toText = (value: unknown) => {
		if (typeof value !== "string" || value.trim() === "") return null;
		const hidden = secret === "" ? value : value.replaceAll(secret, "[redacted]");
		return beginning(redactSecrets(hidden.trim()).replace(/\p{Cc}+/gu, " "), reasonLimit);
	};
	const { error, error_description, message } = body;
	// The platform's API returns an object where the OAuth standard defines a string.
	const inner = isRecord(error) ? error["message"] : null;
	return { error: toText(error), description: toText(error_description) ?? toText(message) ?? toText(inner) };
}
