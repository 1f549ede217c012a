// The authorization of connections to remote servers. src/credentials/ has the sign-in and the token files.
import type { AuthProvider } from "@modelcontextprotocol/client";
import type { McpPermissions } from "../credentials/mcp-oauth.ts";

export interface McpAuthorization {
	/**
	 * What signs the requests to the server with this URL; null when nobody has signed in to it. It may renew tokens, but
	 * never asks a person: where one would be needed it throws the library's UnauthorizedError.
	 */
	provider(url: string): Promise<AuthProvider | null>;
	/** Keeps, for the next time that a person signs in, that the server has refused something for lack of these. Never rejects. */
	needs(url: string, permissions: McpPermissions): Promise<void>;
}
