// Authorization of remote server connections. src/settings/credentials/ has the sign-in and the token files.
import type { AuthProvider } from "@modelcontextprotocol/client";
import type { McpPermissions } from "../../settings/credentials/mcp-oauth.ts";

export interface McpAuthorization {
	/**
	 * Signs requests to the server at this URL; null without a sign-in. It may renew tokens but never asks the user: where that is
	 * needed, it throws the library's UnauthorizedError.
	 */
	provider(url: string): Promise<AuthProvider | null>;
	/** Stores the missing permissions that a server reported, for the next sign-in. Never rejects. */
	needs(url: string, permissions: McpPermissions): Promise<void>;
	/** Resolves when no token renewal is in progress. Exiting earlier may lose the sign-in. Never rejects. */
	settled(): Promise<void>;
}
