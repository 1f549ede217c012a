import { errorText } from "../../base/errors.ts";

// The library takes quadratic time for many errors or keys, so limit its tokens: words, signs, blanks, line breaks.
const lengthLimit = 256 * 1024;
const tokenLimit = 5000;

/** `typed` has numbers, booleans, null and merged maps; in `texts` every scalar is text. Reasons are clauses. */
export async function parseYaml(
	source: string,
	scalars: "typed" | "texts",
): Promise<{ readonly content: unknown } | { readonly reason: string }> {
	if (source.length > lengthLimit)
		return { reason: `The YAML is too large: it has more than ${lengthLimit} characters` };
	const { Lexer, parseDocument } = await import("yaml");
	let tokens = 0;
	for (const _ of new Lexer().lex(source)) {
		tokens += 1;
		if (tokens > tokenLimit) {
			return { reason: `The YAML is too large: it has more than ${tokenLimit} words, signs and line ends` };
		}
	}
	// The library recurses as deep as the values.
	const firstLine = (message: string) =>
		message.split("\n")[0]?.replace(/:$/, "").replace("Maximum call stack size exceeded", "values nest too deeply") ??
		"";
	try {
		const document = parseDocument(source, scalars === "typed" ? { merge: true } : { schema: "failsafe" });
		const [error] = document.errors;
		if (error !== undefined) return { reason: `Invalid YAML: ${firstLine(error.message)}` };
		return { content: document.toJS() };
	} catch (thrown) {
		return { reason: `Invalid YAML: ${firstLine(errorText(thrown))}` };
	}
}
