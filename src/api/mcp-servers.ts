// MCP servers as sessions are given them.

/** Which tools of a server are offered. A null list does not filter. */
export interface McpToolFilter {
	readonly names: readonly string[] | null;
	readonly hidden: readonly string[];
	/** A tool needs one of these tags, and none of the excluded ones. */
	readonly includeTags: readonly string[] | null;
	readonly excludeTags: readonly string[];
}

interface AnyMcpServer {
	readonly name: string;
	/** Milliseconds per call; null means the general setting. */
	readonly callTimeout: number | null;
	readonly filter: McpToolFilter;
}

/** A program that is started and used over stdin and stdout. */
export interface LocalMcpServer extends AnyMcpServer {
	readonly kind: "local";
	readonly command: string;
	/** The placeholder `workDir` stands for the session's work directory, here and in environment values. */
	readonly arguments: readonly string[];
	/** Added to the environment of the session. */
	readonly environment: Readonly<Record<string, string>>;
	/** As configured, relative to the session's work directory. Null means the share directory. */
	readonly workDir: string | null;
}

/** A client that the user registered with a remote server's authorization server. */
export interface McpOAuthClient {
	readonly id: string;
	readonly secret: string | null;
	/** The local port the client was registered with; null means any free port. */
	readonly callbackPort: number | null;
}

export interface RemoteMcpServer extends AnyMcpServer {
	readonly kind: "remote";
	readonly url: string;
	readonly transport: "http" | "sse";
	readonly headers: Readonly<Record<string, string>>;
	readonly authorization:
		| { readonly kind: "none" }
		| { readonly kind: "bearer"; readonly token: string }
		/** The client is null if the program registers its own. */
		| { readonly kind: "oauth"; readonly client: McpOAuthClient | null };
	/** Seconds without data after which an event stream counts as broken; null means never. */
	readonly readTimeout: number | null;
}

export type McpServerSettings = LocalMcpServer | RemoteMcpServer;

export type McpServersChange =
	/** Replaces one of the same name. */
	| { readonly kind: "add"; readonly server: McpServerSettings }
	/** Idempotent. */
	| { readonly kind: "remove"; readonly name: string }
	/** Restarts this server, or all. */
	| { readonly kind: "reload"; readonly name: string | null };
