// The error of a failed sign-in to an MCP server, with a reason that a person can act on.

/** The message is a clause without capital and full stop. */
export class McpSignInError extends Error {
	override readonly name = "McpSignInError";
}
