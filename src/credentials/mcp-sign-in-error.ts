// A sign-in to an MCP server that did not come about, for a reason that a person can act on.

/** The message is a clause without capital and full stop. */
export class McpSignInError extends Error {
	override readonly name = "McpSignInError";
}
