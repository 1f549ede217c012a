// The error of a failed sign-in to an MCP server, with an actionable reason.

/** The message is a clause without initial capital or full stop. */
export class McpSignInError extends Error {
	override readonly name = "McpSignInError";
}
