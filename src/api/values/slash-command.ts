// Parses slash commands as they are typed: a slash with a name, then the argument. The kernel decides which exist;
// front ends handle only `/btw` specially.

export interface SlashCommand {
	readonly name: string;
	/** The text after the name, trimmed. */
	readonly argument: string;
}

const pattern = /^\/([A-Za-z0-9_-]+(?::[A-Za-z0-9_-]+)*)(?:\s+([\s\S]*))?$/;

/** Parses a prompt's text; null when it is not a command, such as a path (wire-protocol §4.13). */
export function parseSlashCommand(text: string): SlashCommand | null {
	const match = pattern.exec(text.trim());
	return match === null ? null : { name: match[1] ?? "", argument: (match[2] ?? "").trim() };
}

/** The command for side questions: the one prompt that is accepted while a turn runs. */
export const sideQuestionName = "btw";

/** The side question of a prompt's text, empty for an empty one; null when it is another prompt. */
export function readSideQuestion(text: string): string | null {
	const command = parseSlashCommand(text);
	return command?.name === sideQuestionName ? command.argument : null;
}

/** The prompt for this side question. */
export const toSideQuestion = (question: string) => `/${sideQuestionName} ${question}`.trim();
