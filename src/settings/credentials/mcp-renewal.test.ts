import { expect, it } from "vitest";
import { toPersisted } from "./mcp-renewal.ts";

it.each([
	["", "the authorization server gave an empty token"],
	["a\nb", "the authorization server gave a token with characters that cannot be sent"],
	["ä", "the authorization server gave a token with characters that cannot be sent"],
])("a token that cannot be sent is refused: %j", (token, text) => {
	expect(() => toPersisted({ access_token: token, token_type: "Bearer" }, 0)).toThrow(text);
});

it.each(["mac", "DPoP", "N_A"])("a token of the type %j is refused, as it would be sent as a Bearer token", (type) => {
	expect(() => toPersisted({ access_token: "a", token_type: type }, 0)).toThrow(
		`the token is of the type "${type}", and only Bearer tokens can be used`,
	);
});

it.each(["", "bearer", "BEARER", "Bearer"])("a token of the type %j is one of Bearer", (type) => {
	expect(toPersisted({ access_token: "a", token_type: type }, 0).token_type).toBe(type || "Bearer");
});
