// Which commands a gateway may serve: checked before the program is loaded.

/** Whether a gateway can serve the command: one of an SDK that speaks lines of JSON. */
export function isRelayed([command, ...words]: readonly string[]): boolean {
	const has = (...flags: readonly string[]) => flags.some((flag) => words.includes(flag));
	if (command === "codex") return has("app-server") || (has("exec", "e") && has("--experimental-json", "--json"));
	if (command !== "claude") return false;
	return (
		has("--input-format=stream-json") ||
		words.some((word, index) => word === "stream-json" && words[index - 1] === "--input-format")
	);
}
