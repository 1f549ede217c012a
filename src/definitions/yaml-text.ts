// YAML as plain values. The library is loaded when there is something for it to read.
import { errorText } from "../base/errors.ts";

/**
 * Reads one document. `typed` has numbers, booleans, null and merged maps; in `texts` every scalar is a text as
 * written, an absent one empty. A reason is a clause without full stop.
 */
export async function parseYaml(
	source: string,
	scalars: "typed" | "texts",
): Promise<{ readonly content: unknown } | { readonly reason: string }> {
	const { parseDocument } = await import("yaml");
	const firstLine = (message: string) => message.split("\n")[0]?.replace(/:$/, "") ?? "";
	try {
		const document = parseDocument(source, scalars === "typed" ? { merge: true } : { schema: "failsafe" });
		const [error] = document.errors;
		if (error !== undefined) return { reason: `Invalid YAML: ${firstLine(error.message)}` };
		return { content: document.toJS() };
	} catch (thrown) {
		return { reason: `Invalid YAML: ${firstLine(errorText(thrown))}` };
	}
}
