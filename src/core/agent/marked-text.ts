// Marks text in a conversation that the program wrote, not the person or a tool.

export function systemText(text: string): string {
	return `<system>${text}</system>`;
}

export function reminderText(text: string): string {
	return `<system-reminder>\n${text}\n</system-reminder>`;
}
