// The authorization of connections to remote servers. src/settings/credentials/ has the sign-in and the token files.
import type { AuthProvider } from "@modelcontextprotocol/client";
import type { McpPermissions } from "../../settings/credentials/mcp-oauth.ts";

export interface McpAuthorization {
	/**
	 * Signs the requests to the server with this URL; null when nobody has signed in to it. It may renew tokens, but
	 * never asks a person: where that would be necessary it throws the library's UnauthorizedError.
	 */
	provider(url: string): Promise<AuthProvider | null>;
	/**
	 * Stores the permissions for lack of which the server has refused something, for the next sign-in. Never rejects.
	 */
	needs(url: string, permissions: McpPermissions): Promise<void>;
	/** Resolves when no tokens are being renewed: whoever ends before may lose the sign-in. Never rejects. */
	settled(): Promise<void>;
}
