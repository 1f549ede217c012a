// Access token types (RFC 6749 §7.1): a client must not use a type it does not understand.
import { cut } from "../../base/text/sentence.ts";

/** Why a token type is unusable, as a clause; null for Bearer (case-insensitive) and for an empty type. */
export function typeFault(type: string): string | null {
	if (/^(?:bearer)?$/i.test(type)) return null;
	return `the token is of the type ${JSON.stringify(cut(type, 40))}, and only Bearer tokens can be used`;
}
