// A fixed-seed piece of the parsers campaign, and what it compares with.
import { describe, expect, it } from "vitest";
import { readScript } from "../../src/core/permissions/shell/read-script.ts";
import { createBash } from "./parsers/bash.ts";
import { literalOf } from "./parsers/literal.ts";
import { playParsers } from "./parsers/parsers-child.ts";
import { createPrinter } from "./parsers/printer.ts";
import { createTreeSitter } from "./parsers/tree-sitter.ts";

it("the parsers campaign finds that scripts are read as other parsers read them", async () => {
	const { findings, outcomes } = await playParsers(20, 0, 300);
	expect(findings).toEqual([]);
	expect(outcomes["all agree"]).toBeGreaterThan(30);
});

describe("what the parsers campaign compares with", () => {
	it.each([
		["rm", "rm"],
		["r''m", "rm"],
		["r\\m", "rm"],
		["\"r\\\nm\"'x y'", "rmx y"],
		["$'\\x72\\155'", "rm"],
		["$'a\\'b\\0c'd", "a'bd"],
		['$"rm"', "rm"],
		['"a\\b\\$"', "a\\b$"],
		['"a$x"', null],
		["$x", null],
		["`x`", null],
		["r*", null],
		["{rm,x}", null],
		["~/rm", null],
	])("takes the name %j for %j", (word, name) => {
		expect(literalOf(word)).toBe(name);
	});

	it("finds the programs of a script by tree-sitter, those of substitutions as well", async () => {
		const { programsOf } = await createTreeSitter();
		expect(programsOf('a "$(b)" | c <(d); [[ e ]]; [ f ]; export g')).toEqual(["a", "b", "c", "d", "[", "export"]);
		expect(programsOf("a 'b")).toBeNull();
	});

	it("reads what bash prints as bash read it, the pattern `esac` as well", async () => {
		const bash = createBash();
		const printed = await bash.print("case x in (esac) a <<'E';& (esac|@) b;; esac\nE\n");
		expect(await bash.print("case x in esac) a;; esac")).toBeNull();
		bash.close();
		const { commands, doubts } = await readScript(printed ?? "", { cwd: "/work", home: "/home/user" });
		expect(doubts).toEqual([]);
		const a = { kind: "literal", text: "a" };
		expect(commands.map(({ command }) => command.words[0])).toEqual([a, { ...a, text: "b" }]);
	});

	it("prints any number of scripts in the form of the other parser", async () => {
		const { print } = await createPrinter();
		for (let round = 0; round < 500; round += 1) {
			expect(await print("if   a;then X=1 `b`; fi # c")).toBe("if a; then X=1 $(b); fi\n");
			expect(await print("a 'b")).toBeNull();
		}
	});
});
