import type { AuthProvider } from "@modelcontextprotocol/client";
import type { McpPermissions } from "../../settings/credentials/mcp-oauth.ts";

export interface McpAuthorization {
	/** Null without a sign-in. Renews tokens but never asks the user: throws the library's UnauthorizedError instead. */
	provider(url: string): Promise<AuthProvider | null>;
	/** Stores the missing permissions that a server reported, for the next sign-in. Never rejects. */
	needs(url: string, permissions: McpPermissions): Promise<void>;
	/** Resolves when no token renewal is in progress. Exiting earlier may lose the sign-in. Never rejects. */
	settled(): Promise<void>;
}
