// What is wrong with MCP servers and their file, as the commands tell it.

/** Something that the person can change. The message is one or more sentences. */
export class McpError extends Error {
	override readonly name = "McpError";
}
