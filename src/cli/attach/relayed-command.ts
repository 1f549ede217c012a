// Which commands a gateway may serve: asked before anything of the program is loaded.

/** Whether the command is one that a gateway can serve: a program that sends frames. */
export function isRelayed(command: string | undefined, argv: readonly string[]): boolean {
	if (command !== "claude") return false;
	return (
		argv.some((word, index) => word === "stream-json" && argv[index - 1] === "--input-format") ||
		argv.includes("--input-format=stream-json")
	);
}
