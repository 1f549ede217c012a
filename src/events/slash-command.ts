// Slash commands as they are typed: a name behind a slash, then whatever follows. Which of them exist is not told here.

export interface SlashCommand {
	readonly name: string;
	/** The text behind the name, trimmed. */
	readonly argument: string;
}

const pattern = /^\/([A-Za-z0-9_-]+(?::[A-Za-z0-9_-]+)*)(?:\s+([\s\S]*))?$/;

/** Reads a prompt's text; null when it is no command, such as a path (wire-protocol §4.13). */
export function parseSlashCommand(text: string): SlashCommand | null {
	const match = pattern.exec(text.trim());
	return match === null ? null : { name: match[1] ?? "", argument: (match[2] ?? "").trim() };
}
