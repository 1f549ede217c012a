// JavaScript, because the types of the library bring those of browsers into the whole program.
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

const languages = { bash, cpp, css, diff, go, java, json, python, rust, sql, typescript, xml, yaml };
for (const [name, language] of Object.entries(languages)) library.registerLanguage(name, language);
library.registerAliases(["js", "jsx", "tsx", "javascript", "ts", "mjs", "cjs", "mts", "cts"], {
	languageName: "typescript",
});
library.registerAliases(["sh", "shell", "console", "zsh"], { languageName: "bash" });

export { library };
