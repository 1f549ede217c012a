// Which commands a gateway may serve: checked before the program is loaded.

/** Whether a gateway can serve the command: a program that sends frames. */
export function isRelayed(command: string | undefined, argv: readonly string[]): boolean {
	if (command !== "claude") return false;
	return (
		argv.some((word, index) => word === "stream-json" && argv[index - 1] === "--input-format") ||
		argv.includes("--input-format=stream-json")
	);
}
