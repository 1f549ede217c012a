/** A tag attribute value in model text, as it appears between quotes. */
export function attributeValue(text: string): string {
	return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}

/** The text as a POSIX shell word, always quoted. */
export function shellQuoted(text: string): string {
	return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The same for display, quoted only when needed. */
export function shellWord(text: string): string {
	return /^[\w@%+=:,./-]+$/.test(text) ? text : shellQuoted(text);
}
