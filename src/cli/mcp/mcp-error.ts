/** A problem the user can fix. The message is one or more sentences. */
export class McpError extends Error {
	override readonly name = "McpError";
}
