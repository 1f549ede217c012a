// Colours of code, loaded once there is some. What the library finds is turned into nodes by its own tree, never into HTML text.

import library from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import typescript from "highlight.js/lib/languages/typescript";
import yaml from "highlight.js/lib/languages/yaml";
import type { ComponentChildren } from "preact";

const languages = { bash, css, diff, go, json, python, rust, typescript, yaml };
for (const [name, language] of Object.entries(languages)) library.registerLanguage(name, language);
library.registerAliases(["js", "jsx", "tsx", "javascript", "ts"], { languageName: "typescript" });
library.registerAliases(["sh", "shell", "console", "zsh"], { languageName: "bash" });

type Found = string | { readonly scope?: string; readonly children: readonly Found[] };

export function highlight(text: string, language: string): ComponentChildren {
	if (library.getLanguage(language) === undefined) return text;
	const { _emitter: emitter } = library.highlight(text, { language, ignoreIllegals: true });
	return "rootNode" in emitter ? toNodes(emitter.rootNode as Found) : text;
}

function toNodes(found: Found): ComponentChildren {
	if (typeof found === "string") return found;
	const inner = found.children.map(toNodes);
	return found.scope === undefined ? inner : <span class={`hl-${found.scope.split(".")[0] ?? ""}`}>{inner}</span>;
}
