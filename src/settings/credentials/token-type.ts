// The type of an access token (RFC 6749 §7.1): a client must not use one whose type it does not understand.
import { cut } from "../../base/text/sentence.ts";

/** Why a token of this type cannot be used, as a clause; null for Bearer, in any case, and for none. */
export function typeFault(type: string): string | null {
	if (/^(?:bearer)?$/i.test(type)) return null;
	return `the token is of the type ${JSON.stringify(cut(type, 40))}, and only Bearer tokens can be used`;
}
