// The programs of a script as tree-sitter's grammar of bash sees them.
import { createRequire } from "node:module";
import { Language, type Node, Parser } from "web-tree-sitter";
import { literalOf } from "./literal.ts";

export interface TreeSitter {
	/** The programs, null for one that is not literal; null when the script has an error. */
	programsOf(script: string): readonly (string | null)[] | null;
}

export async function createTreeSitter(): Promise<TreeSitter> {
	await Parser.init();
	const require = createRequire(import.meta.url);
	const language = await Language.load(require.resolve("tree-sitter-bash/tree-sitter-bash.wasm"));
	const parser = new Parser();
	parser.setLanguage(language);
	return {
		programsOf(script) {
			const tree = parser.parse(script);
			if (tree === null) return null;
			try {
				if (tree.rootNode.hasError) return null;
				const commands = tree.rootNode.descendantsOfType([
					"command",
					"declaration_command",
					"unset_command",
					"test_command",
				]);
				return commands.flatMap((node) => (node === null ? [] : programOf(node)));
			} finally {
				tree.delete();
			}
		},
	};
}

const keywords: ReadonlySet<string> = new Set(["time", "coproc", "!"]);

function programOf(node: Node): (string | null)[] {
	const first = node.firstChild?.text ?? "";
	switch (node.type) {
		case "declaration_command":
		case "unset_command":
			return [first];
		case "test_command":
			// `[[` and `((` are words of the grammar, `[` is a program.
			return first === "[" ? ["["] : [];
		default: {
			const name = node.childForFieldName("name");
			if (name === null) return [];
			if (!keywords.has(name.text)) return [literalOf(name.text)];
			// It takes these for programs, and the program for their first word.
			const word = node
				.childrenForFieldName("argument")
				.find((argument) => !/^(?:-p|--|!)$/.test(argument?.text ?? ""));
			return word ? [literalOf(word.text)] : [];
		}
	}
}
