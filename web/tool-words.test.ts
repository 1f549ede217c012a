import { describe, expect, it } from "vitest";
import { lookedWords } from "./tool-words.ts";

describe("calls that only look", () => {
	it.each([
		[["ReadFile", "Grep", "Glob"], "Read 1 file, searched twice"],
		[["ReadFile", "ReadMediaFile", "FetchURL"], "Read 2 files, looked on the web once"],
		[["Grep", "Grep", "Grep", "TaskOutput"], "Searched 3 times, checked once"],
	])("%j are one line", (tools, words) => expect(lookedWords(tools)).toBe(words));
});
