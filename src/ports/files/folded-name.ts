/** The same form for names differing in case, Unicode form, or ignored characters. */
export function foldName(text: string): string {
	const visible = text.replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "");
	// Upper-case first, to unify letters with several lower-case forms, such as s and the long s.
	return visible.normalize("NFC").toUpperCase().toLowerCase().normalize("NFC");
}
