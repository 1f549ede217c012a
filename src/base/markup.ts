// Tags in texts for a model, which say where the text between them comes from.

/** The value of an attribute, as it stands between its quotes. */
export function attributeValue(text: string): string {
	return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}
