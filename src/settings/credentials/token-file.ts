// The token file of a sign-in, in `kimi`'s format. Only its owner may read it.
import path from "node:path";
import * as v from "valibot";
import { errorText } from "../../base/errors.ts";
import { parseJsonFile } from "../../base/json.ts";
import type { Files } from "../../ports/files/port.ts";
import { typeFault } from "./token-type.ts";

export interface Tokens {
	readonly accessToken: string;
	readonly refreshToken: string;
	readonly expiresAt: number;
	readonly expiresIn: number;
	readonly scope: string;
	readonly tokenType: string;
}

export type StoredTokens =
	| { readonly kind: "tokens"; readonly tokens: Tokens }
	| { readonly kind: "absent" }
	/** The file is unusable; the reason does not quote it. */
	| { readonly kind: "damaged"; readonly reason: string };

/** Characters valid in a header. */
const tokenText = v.pipe(v.string("must be a string"), v.regex(/^[\x21-\x7e]+$/, "must be a token"));
const seconds = v.fallback(v.pipe(v.number(), v.minValue(0)), 0);
const text = v.fallback(v.string(), "");

const fileSchema = v.object({
	access_token: tokenText,
	refresh_token: text,
	expires_at: seconds,
	scope: text,
	token_type: text,
	expires_in: seconds,
});

export function tokenFile(shareDir: string, name: string): string {
	return path.join(shareDir, "credentials", `${name}.json`);
}

/** The file for a settings key such as `oauth/kimi-code`; null if the key is not a plain name. */
export function tokenFileOf(shareDir: string, key: string): string | null {
	const name = key.replace(/^oauth\//, "");
	return /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/.test(name) ? tokenFile(shareDir, name) : null;
}

/** Never rejects. */
export async function readTokens(files: Files, file: string): Promise<StoredTokens> {
	try {
		const bytes = await files.read(file);
		return bytes === null ? { kind: "absent" } : parseTokens(bytes);
	} catch (thrown) {
		return { kind: "damaged", reason: errorText(thrown) };
	}
}

function parseTokens(bytes: Buffer): StoredTokens {
	let value: unknown;
	try {
		value = parseJsonFile(bytes);
	} catch {
		return { kind: "damaged", reason: "it is not JSON" };
	}
	const parsed = v.safeParse(fileSchema, value);
	if (!parsed.success) return { kind: "damaged", reason: "it has no usable access_token" };
	const { access_token, refresh_token, expires_at, scope, token_type, expires_in } = parsed.output;
	const fault = typeFault(token_type);
	if (fault !== null) return { kind: "damaged", reason: fault };
	return {
		kind: "tokens",
		tokens: {
			accessToken: access_token,
			refreshToken: refresh_token,
			expiresAt: expires_at,
			expiresIn: expires_in,
			scope,
			tokenType: token_type,
		},
	};
}

/** Replaces the tokens, on stable storage. The directory must exist. */
export async function writeTokens(files: Files, file: string, tokens: Tokens): Promise<void> {
	const content = {
		access_token: tokens.accessToken,
		refresh_token: tokens.refreshToken,
		expires_at: tokens.expiresAt,
		scope: tokens.scope,
		token_type: tokens.tokenType,
		expires_in: tokens.expiresIn,
	};
	await files.replace(file, `${JSON.stringify(content)}\n`, { mode: 0o600, sync: true });
}
