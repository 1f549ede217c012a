// Derives behavior from the name that the program was called by, such as that of a link to it.
import path from "node:path";
import type { ServeOptions } from "./command-line.ts";

const kimiNames: ReadonlySet<string> = new Set(["kimi", "kimi-agent", "kimi-cli", "kimi-code"]);

/** Whether the caller expects Kimi Wire without a flag. */
export function isCalledKimi(executable: string): boolean {
	return kimiNames.has(path.basename(executable));
}

/** The commands of names under which the program is that command alone. */
const commandsByName: Readonly<Record<string, string>> = {
	"rkat-rpc": "rpc",
	"agentwire-acp": "acp",
	"kimi-acp": "acp",
	codex: "codex",
	"agentwire-codex": "codex",
	claude: "claude",
	"agentwire-claude": "claude",
};

/** The arguments, after the command that the executable's name stands for. */
export function withImpliedCommand(executable: string, argv: readonly string[]): readonly string[] {
	const name = path.basename(executable);
	const command = Object.hasOwn(commandsByName, name) ? commandsByName[name] : undefined;
	return command === undefined ? argv : [command, ...argv];
}

/** Whether the program of this name is a server and nothing else, so that it also serves on a terminal. */
export function servesOnTerminal(executable: string): boolean {
	return path.basename(executable) === "kimi-agent";
}

/** The mode of a server that was started without one. */
export function impliedMode(executable: string): ServeOptions["mode"] {
	return isCalledKimi(executable) ? "wire" : null;
}
