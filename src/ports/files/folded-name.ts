// Names that some file systems take for the same.

/**
 * The form that names share which some file system treats as one: they differ in case, in Unicode form, or in characters that
 * are ignored.
 */
export function foldName(text: string): string {
	const visible = text.replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "");
	// By way of capitals, which letters share that have several small forms, such as s and the long s.
	return visible.normalize("NFC").toUpperCase().toLowerCase().normalize("NFC");
}
