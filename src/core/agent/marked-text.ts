export function systemText(text: string): string {
	return `<system>${text}</system>`;
}

export function reminderText(text: string): string {
	return `<system-reminder>\n${text}\n</system-reminder>`;
}
