// Shows what a session left on disk: each file with its size, its purpose and how it begins.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { Terminal } from "./terminal.ts";

const purposes: Readonly<Record<string, string>> = {
	"wire.jsonl": "every event, merged",
	"context.jsonl": "what the model sees",
	"journal.jsonl": "the truth: all of it, numbered",
	"state.json": "title, session approvals",
};

/** The directory of a session below `shareDir`, or null when there is none. */
export function findSession(shareDir: string, sessionId: string): string | null {
	const sessions = path.join(shareDir, "sessions");
	if (!existsSync(sessions)) return null;
	const found = readdirSync(sessions)
		.map((project) => path.join(sessions, project, sessionId))
		.find((directory) => existsSync(directory));
	return found ?? null;
}

export function showSession(terminal: Terminal, directory: string): void {
	for (const file of readdirSync(directory, { withFileTypes: true })) {
		if (!file.isFile()) continue;
		const text = readFileSync(path.join(directory, file.name), "utf8");
		const lines = text.split("\n").filter((line) => line !== "");
		const size = `${Buffer.byteLength(text)} bytes, ${lines.length} lines`;
		terminal.line(
			"",
			`${terminal.styled("cyan", file.name.padEnd(14))} ${size.padEnd(22)} ${purposes[file.name] ?? ""}`,
		);
		for (const line of lines.slice(0, 2)) terminal.line("", `  ${line}`, "dim");
	}
}
