// Flows in D2, by the rules of the reference (agent-kernel §8.6).
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Flow } from "./flow.ts";
import { parseD2 } from "./flow-d2.ts";
import { FlowError } from "./flow-graph.ts";

/** Between a begin and an end, so that lines can be tried one by one. */
const parse = (...lines: string[]): Flow => parseD2(["BEGIN -> a", ...lines, "z -> END"].join("\n"), 1);

function refusal(source: string): string {
	try {
		parseD2(source, 11);
	} catch (thrown) {
		if (thrown instanceof FlowError) return thrown.message;
		throw thrown;
	}
	throw new Error("Not refused");
}

describe("a flow in D2", () => {
	it("has a begin, an end, tasks and decisions", () => {
		const source = `
			direction: right
			start: Begin { shape: oval }
			start -> write -> check
			write: |md
			  # Write it

			    Slowly: {well}; # not a comment
			|
			check: "Is it right?" {
				shape: diamond # a sign
				style.fill: "#f9f}"
				note: |md } |
				inner: { a -> b: c }
			}
			check -> END: yes
			check -> write: no, or not quite
		`;
		expect(parseD2(source, 1)).toEqual({
			begin: "start",
			nodes: new Map<string, unknown>([
				["start", { kind: "begin", next: "write" }],
				["write", { kind: "task", text: "# Write it\n\n  Slowly: {well}; # not a comment", next: "check" }],
				[
					"check",
					{
						kind: "decision",
						text: "Is it right?",
						branches: new Map([
							["yes", "END"],
							["no, or not quite", "write"],
						]),
					},
				],
				["END", { kind: "end" }],
			]),
		});
	});

	it.each([
		"a -> z",
		"a->z",
		"a --> z",
		"a -> z;",
		"  a\t->\tz # note",
		'"a" -> z',
		"a -> 'z' { style.stroke: red }",
		"a; z; a -> z",
	])("reads '%s' as an edge without a label", (line) => {
		expect(parse(line).nodes.get("a")).toEqual({ kind: "task", text: "a", next: "z" });
	});

	it.each([
		["a -> z: yes", "yes"],
		["a->z:yes", "yes"],
		['a -> z: "yes"', "yes"],
		["a -> z: yes # surely", "yes"],
		["a -> z: yes: surely -> here", "yes: surely -> here"],
		["a -> z: yes { style.stroke: red }", "yes"],
		["a -> z: |md yes |", "yes"],
	])("reads the label of '%s'", (line, label) => {
		expect(parse(line, "a -> a: other").nodes.get("a")).toEqual({
			kind: "decision",
			text: "a",
			branches: new Map([
				[label, "z"],
				["other", "a"],
			]),
		});
	});

	it("gives every edge of a chain its label", () => {
		const { nodes } = parse("a -> b -> z: on", "a -> z: off", "b -> a: back");
		expect(nodes.get("a")).toMatchObject({
			branches: new Map([
				["on", "b"],
				["off", "z"],
			]),
		});
		expect(nodes.get("b")).toMatchObject({
			branches: new Map([
				["on", "z"],
				["back", "a"],
			]),
		});
	});

	it.each([
		["a: Do it", "Do it"],
		["a:Do it", "Do it"],
		["a: Do it: well", "Do it: well"],
		["a: Don't; b", "Don't"],
		["a: issue#1 # note", "issue#1"],
		["a: Do it {shape: diamond}", "Do it"],
		["a: {shape: diamond}", "a"],
		["a: {\n  shape: diamond\n  label: x\n}", "a"],
		["a:", "a"],
		["a", "a"],
		['a: "Do {it}; # now"', "Do {it}; # now"],
		["a: 'Don''t'", "Don't"],
		['a: "Say \\"hello\\"\\nand \\\\d"', 'Say "hello"\nand \\d'],
		["a: |md Do it |", "Do it"],
		["a: |md\n    Do it\n\n      well\n  | {shape: text}", "Do it\n\n  well"],
		["a: ||md\n  a | b\n||", "a | b"],
		["a: |`md\n  a | b\n`|", "a | b"],
		["a: |\n  # Do it\n|", "# Do it"],
		["a: |md\r\n  Do it\r\n|", "Do it"],
		['"a": Do it', "Do it"],
	])("reads the node '%s'", (node, text) => {
		for (const lines of [
			[node, "a -> z"],
			["a -> z", node],
		]) {
			expect(parse(...lines).nodes.get("a")).toEqual({ kind: "task", text, next: "z" });
		}
	});

	it.each(["größe-2", "two words", "a.b", '"a -> b: c"', "steps"])("reads '%s' as an id", (id) => {
		const name = id.replaceAll('"', "");
		expect(parse(`a -> ${id}`, `${id} -> z`).nodes.get(name)).toEqual({ kind: "task", text: name, next: "z" });
	});

	it.each([
		"# note -> note",
		'"""\nnote -> note\n"""',
		"shape: diamond",
		"direction: right",
		"style.fill: red",
		"a.shape: diamond",
		"a.style.fill: '#f9f'",
		"a.class: [x; y]",
		"*.style.fill: red",
		"(a -> z)[0].style.stroke: red",
		"vars: {\n  x: {\n    y: z\n  }\n}",
		"classes: { x.style.fill: red }",
		"",
		";",
	])("ignores '%s'", (line) => {
		expect(parse(line, "a -> z")).toEqual(parse("a -> z"));
		expect(parse(line, "a -> z").nodes.size).toBe(4);
	});

	it("reads a quoted property name as a node", () => {
		expect(parse('"steps": Do them', "a -> steps -> z").nodes.get("steps")).toMatchObject({ text: "Do them" });
	});

	it.each([
		["", "there is no node BEGIN"],
		["BEGIN -> a", "there is no node END"],
		["x: { BEGIN -> END }", "there is no node BEGIN"],
		["BEGIN -> a\nb: begin\na -> END", 'line 12: there is a second node BEGIN: "b" besides "BEGIN"'],
		["BEGIN -> a\nb -> END", "END cannot be reached from BEGIN"],
		[
			"BEGIN -> END: x\nBEGIN -> a: y",
			'line 12: BEGIN ("BEGIN") has several outgoing edges; lead it to a decision node instead',
		],
		["BEGIN -> a\na -> END: yes\na -> b", 'line 13: node "a" has several edges out, and the one to "b" has no label'],
		["BEGIN -> a -> END: x\n\na -> b: x", 'line 13: node "a" has two edges out with the label "x"'],
		["a: |md\n x\n|\na: B", 'line 14: node "a" has the label "x" already (line 11)'],
		["BEGIN -> -> END", "line 11: a node is missing here"],
		["BEGIN ->", "line 11: a node is missing here"],
		[": x", "line 11: a node is missing here"],
		["BEGIN <- END", 'line 11: "BEGIN <- END" has an unknown arrow: write "a -> b"'],
		["BEGIN <-> END", 'line 11: "BEGIN <" has an unknown arrow: write "a -> b"'],
		["BEGIN -- END", 'line 11: "BEGIN -- END" has an unknown arrow: write "a -> b"'],
		["a: {\n  b: {\n  }\n", 'line 11: the map is not closed: "}" is missing'],
		["\na: |md\n text", 'line 12: the block text is not closed: "|" is missing'],
		["a: |`md\n text |", 'line 11: the block text is not closed: "`|" is missing'],
		["a\n}", 'line 12: "}" is not expected here: put text with braces or quotes in quotes'],
		["a: {b} c", 'line 11: "c" is not expected here: put text with braces or quotes in quotes'],
		['a: "b" c', 'line 11: "c" is not expected here: put text with braces or quotes in quotes'],
	])("refuses %j: %s", (source, reason) => {
		expect(refusal(source)).toBe(reason);
	});

	it("throws only errors with a reason, whatever the text", () => {
		const piece = fc.oneof(
			fc.constantFrom("a", "b", "BEGIN", "END", " ", "\n", "->", "-", ":", ";", '"', "'", '"""', "\\", "x", ".", "<"),
			fc.constantFrom("{", "}", "|", "|md ", "[", "]", "(", "#", "style", "shape: x", "\r", "\t"),
			fc.string({ unit: "binary", maxLength: 3 }),
		);
		fc.assert(
			fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
				try {
					const { begin, nodes } = parseD2(pieces.join(""), 1);
					expect(nodes.get(begin)?.kind).toBe("begin");
				} catch (thrown) {
					expect(thrown).toBeInstanceOf(FlowError);
				}
			}),
			{ numRuns: 1000 },
		);
	});

	it.each([
		"-",
		".",
		" ",
		"|",
		'"',
		"'",
		"[",
		"(",
		"{",
		"a",
		"a.",
		":",
		";",
		'".',
		'"a".',
		"\\",
		"#",
		" #",
		"->",
		"\n",
		'"->',
	])("reads a long repetition of %j in bounded time", (sign) => {
		const run = sign.repeat(200_000 / sign.length);
		for (const source of [run, `a${run}`, `a: ${run}`, `a: {${run}`, `a: |md ${run}`, `a: "${run}`, `a: [${run}`])
			expect(refusal(source)).not.toBe("");
	});
});
