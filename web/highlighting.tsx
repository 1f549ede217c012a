// Colors of code, loaded once there is some. What the library finds is turned into nodes by its own tree, never into HTML text.

import library from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import cpp from "highlight.js/lib/languages/cpp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import java from "highlight.js/lib/languages/java";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import type { ComponentChildren } from "preact";

const languages = { bash, cpp, css, diff, go, java, json, python, rust, sql, typescript, xml, yaml };
for (const [name, language] of Object.entries(languages)) library.registerLanguage(name, language);
library.registerAliases(["js", "jsx", "tsx", "javascript", "ts", "mjs", "cjs", "mts", "cts"], {
	languageName: "typescript",
});
library.registerAliases(["sh", "shell", "console", "zsh"], { languageName: "bash" });

type Found = string | { readonly scope?: string; readonly children: readonly Found[] };

export function highlight(text: string, language: string): ComponentChildren {
	if (library.getLanguage(language) === undefined) return text;
	const { _emitter: emitter } = library.highlight(text, { language, ignoreIllegals: true });
	return "rootNode" in emitter ? toNodes(emitter.rootNode as Found) : text;
}

/** A piece of a line, and what it is; an empty scope for plain text. */
export interface Token {
	readonly text: string;
	readonly scope: string;
}

/** The tokens of each line; null for a language that is not known. */
export function tokensByLine(text: string, language: string): readonly (readonly Token[])[] | null {
	if (library.getLanguage(language) === undefined) return null;
	const { _emitter: emitter } = library.highlight(text, { language, ignoreIllegals: true });
	if (!("rootNode" in emitter)) return null;
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
	add(emitter.rootNode as Found, "");
	return lines;
}

function toNodes(found: Found): ComponentChildren {
	if (typeof found === "string") return found;
	const inner = found.children.map(toNodes);
	return found.scope === undefined ? inner : <span class={`hl-${found.scope.split(".")[0] ?? ""}`}>{inner}</span>;
}
