/** The message is a clause without initial capital or full stop. */
export class McpSignInError extends Error {
	override readonly name = "McpSignInError";
}
