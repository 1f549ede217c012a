// The error of the `mcp` commands for faults of MCP servers and their file.

/** Something that the person can change. The message is one or more sentences. */
export class McpError extends Error {
	override readonly name = "McpError";
}
