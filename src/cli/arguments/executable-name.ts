import path from "node:path";
import type { ServeOptions } from "./command-line.ts";

const kimiNames: ReadonlySet<string> = new Set(["kimi", "kimi-agent", "kimi-cli", "kimi-code"]);

export function isCalledKimi(executable: string): boolean {
	return kimiNames.has(path.basename(executable));
}

const commandsByName: Readonly<Record<string, string>> = {
	"rkat-rpc": "rpc",
	"agentwire-acp": "acp",
	"kimi-acp": "acp",
	codex: "codex",
	"agentwire-codex": "codex",
	claude: "claude",
	"agentwire-claude": "claude",
};

export function withImpliedCommand(executable: string, argv: readonly string[]): readonly string[] {
	const name = path.basename(executable);
	const command = Object.hasOwn(commandsByName, name) ? commandsByName[name] : undefined;
	return command === undefined ? argv : [command, ...argv];
}

export function servesOnTerminal(executable: string): boolean {
	return path.basename(executable) === "kimi-agent";
}

export function impliedMode(executable: string): ServeOptions["mode"] {
	return isCalledKimi(executable) ? "wire" : null;
}
