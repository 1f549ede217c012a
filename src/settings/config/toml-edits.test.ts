import { describe, expect, it } from "vitest";
import { removeTomlKey, setTomlKey } from "./toml-edits.ts";

describe("setTomlKey", () => {
	it.each([
		["a value in place", "a = 1 # one\nb = 2\n", ["a"], 3, "a = 3 # one\nb = 2\n"],
		["a multi-line value", "a = [\n1,\n] # one\nb = 2\n", ["a"], [2], "a = [2] # one\nb = 2\n"],
		["a value with a dotted key", "[x]\na.b = 1\n", ["x", "a", "b"], 2, "[x]\na.b = 2\n"],
		[
			"a new key of its table",
			"[x]\na = 1\n\n# about y\n[y]\n",
			["x", "b"],
			2,
			"[x]\na = 1\nb = 2\n\n# about y\n[y]\n",
		],
		["the first key of a table", "[x]\n\n[y]\n", ["x", "a"], "b", '[x]\na = "b"\n\n[y]\n'],
		["a key above the tables", "a = 1\n\n[x]\n", ["b"], 2, "a = 1\nb = 2\n\n[x]\n"],
		["the first top-level key", "[x]\n", ["b"], 2, "b = 2\n\n[x]\n"],
		["the first key above a comment", "# mine\n", ["b"], 2, "b = 2\n\n# mine\n"],
		["the first key of an empty text", "", ["b"], 2, "b = 2\n"],
		["a table", "a = 1\n", ["x", "y z", "b"], 2, 'a = 1\n\n[x."y z"]\nb = 2\n'],
		["a table in an empty text", "", ["x", "b"], 2, "[x]\nb = 2\n"],
		["a key after a last line without a newline", "[x]\na = 1", ["x", "b"], 2, "[x]\na = 1\nb = 2\n"],
		["a table after a last line without a newline", "[x]\na = 1", ["y", "b"], 2, "[x]\na = 1\n\n[y]\nb = 2\n"],
		["a table after a list of tables", "[[x]]\na = 1\n", ["y", "a"], 2, "[[x]]\na = 1\n\n[y]\na = 2\n"],
		["a table for an empty inline table", "x = {}\ny = { }\n", ["x", "b", "c"], 1, "y = { }\n\n[x.b]\nc = 1\n"],
		[
			"an inline table for one with a heading",
			"[x.y]\na = 1\n\n[x]\nb = 2\n",
			["x", "y"],
			{ c: 3 },
			"\n[x]\nb = 2\ny = { c = 3 }\n",
		],
		["with the existing line ends", "a = 1\r\n", ["x", "b"], 2, "a = 1\r\n\r\n[x]\r\nb = 2\r\n"],
		["after a byte order mark", "\ufeff[x]\n", ["b"], 2, "\ufeffb = 2\n\n[x]\n"],
	] as const)("sets %s", (_, text, path, value, expected) => {
		expect(setTomlKey(text, path, value)).toBe(expected);
	});
});

describe("removeTomlKey", () => {
	it.each([
		["a pair", "a = 1\n# about b\nb = 2\n", ["a"], "# about b\nb = 2\n"],
		["a table with the line above", "a = 1\n\n[x]\nb = 2\n\n[y]\n", ["x"], "a = 1\n\n[y]\n"],
		["a table and those below", "[x.y.z]\na = 1\n\n[x.y]\nb = 2\n\n[x.yy]\n", ["x", "y"], "\n[x.yy]\n"],
		["dotted pairs", "[x]\ny.a = 1\ny.b = 2\nz = 3\n", ["x", "y"], "[x]\nz = 3\n"],
		["nothing for an absent key", "a = 1\n", ["b"], "a = 1\n"],
		["a table but not a person's comments", "[x]\n# note\na = 1\n# about y\n[y]\n", ["x"], "# note\n# about y\n[y]\n"],
		["a table between others with CR LF", "a = 1\r\n\r\n[x]\r\nb = 2\r\n", ["x"], "a = 1\r\n"],
	])("removes %s", (_, text, path, expected) => {
		expect(removeTomlKey(text, path)).toBe(expected);
	});

	it("removes what was set", () => {
		const text = "# mine\na = 1\n\n[x]\nb = 2 # two\n";
		const set = setTomlKey(setTomlKey(text, ["y", "k", "c"], "d"), ["y", "k", "e"], true);
		expect(set).toBe(`${text}\n[y.k]\nc = "d"\ne = true\n`);
		expect(removeTomlKey(set, ["y", "k"])).toBe(text);
	});
});
