import { library } from "./code-languages.js";

type Found = string | { readonly scope?: string; readonly children: readonly Found[] };

/** A piece of a line, and what it is, such as `keyword`; an empty scope for plain text. */
export interface Token {
	readonly text: string;
	readonly scope: string;
}

/** The tokens of each line; null for an unknown language. */
export function tokensByLine(text: string, language: string): readonly (readonly Token[])[] | null {
	if (library.getLanguage(language) === undefined) return null;
	const lines: Token[][] = [[]];
	const add = (found: Found, scope: string) => {
		if (typeof found !== "string") {
			for (const child of found.children) add(child, found.scope?.split(".")[0] ?? scope);
			return;
		}
		for (const [index, piece] of found.split("\n").entries()) {
			if (index > 0) lines.push([]);
			if (piece !== "") lines.at(-1)?.push({ text: piece, scope });
		}
	};
	add(library.highlight(text, { language, ignoreIllegals: true })._emitter.rootNode, "");
	return lines;
}
