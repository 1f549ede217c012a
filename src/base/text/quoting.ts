// How a foreign text stands within a text of another language.

/** The value of an attribute of a tag in a text for a model, as it stands between its quotes. */
export function attributeValue(text: string): string {
	return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}

/** The text as one word of a command for a POSIX shell, always in quotes. */
export function shellQuoted(text: string): string {
	return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The same, without quotes where none are needed: for people. */
export function shellWord(text: string): string {
	return /^[\w@%+=:,./-]+$/.test(text) ? text : shellQuoted(text);
}
