// Text in a conversation that is the program's own and not the person's or a tool's: marked as such.

export function systemText(text: string): string {
	return `<system>${text}</system>`;
}

export function reminderText(text: string): string {
	return `<system-reminder>\n${text}\n</system-reminder>`;
}
