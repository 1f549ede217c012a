import { expect, it } from "vitest";
import { toPersisted } from "./mcp-renewal.ts";

it.each([
	["", "the authorization server gave an empty token"],
	["a\nb", "the authorization server gave a token with characters that cannot be sent"],
	["ä", "the authorization server gave a token with characters that cannot be sent"],
])("a token that cannot be sent is refused: %j", (token, text) => {
	expect(() => toPersisted({ access_token: token, token_type: "Bearer" }, 0)).toThrow(text);
});
