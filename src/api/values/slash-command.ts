// Parses slash commands: a slash with a name, then the argument. The kernel decides which exist; front ends handle only `/btw`
// specially.

export interface SlashCommand {
	readonly name: string;
	/** The text after the name, trimmed. */
	readonly argument: string;
}

const pattern = /^\/([A-Za-z0-9_-]+(?::[A-Za-z0-9_-]+)*)(?:\s+([\s\S]*))?$/;

/** Null if the prompt is not a command, such as a path (wire-protocol §4.13). */
export function parseSlashCommand(text: string): SlashCommand | null {
	const match = pattern.exec(text.trim());
	return match === null ? null : { name: match[1] ?? "", argument: (match[2] ?? "").trim() };
}

/** The side question command: the only prompt accepted while a turn runs. */
export const sideQuestionName = "btw";

/** The side question in a prompt (possibly empty); null for any other prompt. */
export function readSideQuestion(text: string): string | null {
	const command = parseSlashCommand(text);
	return command?.name === sideQuestionName ? command.argument : null;
}

export const toSideQuestion = (question: string) => `/${sideQuestionName} ${question}`.trim();
