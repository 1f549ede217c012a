import { describe, expect, it } from "vitest";
import { findAvoidedWords } from "./word-check.ts";

const found = (file: string, text: string) =>
	findAvoidedWords(file, text).map(({ line, place, text: word }) => `${line} ${place} ${word}`);

describe("the check of words", () => {
	it("finds them in comments, with their lines", () => {
		const code = [
			"// An event.",
			"export interface Event {",
			"\t/**",
			"\t * First it is",
			"\t * kept, then told.",
			"\t */",
			"}",
		];
		expect(found("src/a.ts", code.join("\n"))).toEqual(["5 prose told", "5 prose kept"]);
	});

	it("finds phrases of several words", () => {
		expect(found("src/a.ts", "// It takes the place of the answer, and is tried again.\n")).toEqual([
			"1 prose takes the place of",
			"1 prose tried again",
		]);
	});

	it("finds them in identifiers, once each", () => {
		const code = "const keptRows = 1;\nexport class Conversation { #isTold = keptRows; }\n";
		expect(found("src/a.ts", code)).toEqual(["1 name keptRows", "2 name Conversation", "2 name isTold"]);
	});

	it("finds them in names of files", () => {
		expect(found("src/unkept-turn.test.ts", "")).toEqual(["1 name unkept"]);
	});

	it("finds them in the sentences of documents", () => {
		expect(found("docs/a.md", "# A\n\nThe client is told at once.\n")).toEqual(["3 prose told"]);
	});

	it("suggests the word to use instead", () => {
		const [finding] = findAvoidedWords("docs/a.md", "thoughts");
		expect(finding?.say).toContain("reasoning");
	});

	it("does not look at literals: strings, names of protocols, backquotes and blocks of code", () => {
		const code = [
			'export const text = "kept and told";',
			"export const other = `behind and beside`;",
			"export const told_at = 1;",
			"// The key `kept` of the file.",
		];
		expect(found("src/a.ts", code.join("\n"))).toEqual([]);
		expect(found("docs/a.md", "Use `kept`.\n\n```\nkept and told\n```\n")).toEqual([]);
	});

	it("allows the listed uses, only in the files that they are listed for", () => {
		const key = "export const stored = { kept: 1 };\n";
		expect(found("src/models/ai-sdk/memory.ts", key)).toEqual([]);
		expect(found("src/models/ai-sdk/memory.ts", `// Kept for later.\n${key}`)).toEqual(["1 prose Kept"]);
		expect(found("src/models/model.ts", key)).toEqual(["1 name kept"]);
	});
});
