// Slash commands as they are typed: a name behind a slash, then whatever follows. Which of them exist is not told here,
// but for the one that front ends treat apart.

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

/** The command that asks beside the conversation: the one prompt that may come while a turn runs. */
export const sideQuestionName = "btw";

/** What a prompt's text asks beside the conversation, empty for nothing; null when it is another prompt. */
export function readSideQuestion(text: string): string | null {
	const command = parseSlashCommand(text);
	return command?.name === sideQuestionName ? command.argument : null;
}

/** The prompt that asks this. */
export const toSideQuestion = (question: string) => `/${sideQuestionName} ${question}`.trim();
