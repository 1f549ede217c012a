import { withImpliedCommand } from "../arguments/executable-name.ts";

/** The exit code of a command that a gateway served; null if this process must run it itself. */
export async function runInGateway(executable: string, argv: readonly string[]): Promise<number | null> {
	const words = withImpliedCommand(executable, argv);
	return isRelayed(words) ? await (await import("./relay.ts")).relay(words) : null;
}

/** Whether a gateway can serve the command, that is, an SDK command that speaks JSON lines. */
function isRelayed([command, ...words]: readonly string[]): boolean {
	const has = (...flags: readonly string[]) => flags.some((flag) => words.includes(flag));
	if (command === "codex") return has("app-server") || (has("exec", "e") && has("--experimental-json", "--json"));
	if (command !== "claude") return false;
	return (
		has("--input-format=stream-json") ||
		words.some((word, index) => word === "stream-json" && words[index - 1] === "--input-format")
	);
}
