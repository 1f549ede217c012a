// Flows in Mermaid, by the rules of the reference (agent-kernel §8.6).
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Flow } from "./flow.ts";
import { FlowError } from "./flow-graph.ts";
import { parseMermaid } from "./flow-mermaid.ts";

/** Between a begin and an end, so that lines can be tried one by one. */
const around = (...lines: string[]) => ["BEGIN --> a", ...lines, "z --> END"].join("\n");
const parse = (...lines: string[]): Flow => parseMermaid(around(...lines), 1);

function refusal(source: string): string {
	try {
		parseMermaid(source, 11);
	} catch (thrown) {
		if (thrown instanceof FlowError) return thrown.message;
		throw thrown;
	}
	throw new Error("Not refused");
}

describe("a flow in Mermaid", () => {
	it("has a begin, an end, tasks and decisions", () => {
		const source = `
			flowchart TD
			  begin([Begin]) --> write["Write it (well)"]
			  write --> check{Is it right?}
			  check -->|yes| done([END])
			  check -- "no, or not quite" --> write
		`;
		expect(parseMermaid(source, 1)).toEqual({
			begin: "begin",
			nodes: new Map<string, unknown>([
				["begin", { kind: "begin", next: "write" }],
				["write", { kind: "task", text: "Write it (well)", next: "check" }],
				[
					"check",
					{
						kind: "decision",
						text: "Is it right?",
						branches: new Map([
							["yes", "done"],
							["no, or not quite", "write"],
						]),
					},
				],
				["done", { kind: "end" }],
			]),
		});
	});

	it.each([
		"a --> z",
		"a-->z",
		"a ---> z",
		"a --- z",
		"a---z",
		"a -.-> z",
		"a -..-> z",
		"a -.- z",
		"a ==> z",
		"a === z",
		"a --x z",
		"a --o z",
		"a --> z;",
		"  a\t-->\tz ; ",
		"a:::loud --> z:::quiet",
	])("reads '%s' as an edge without a label", (line) => {
		expect(parse(line).nodes.get("a")).toEqual({ kind: "task", text: "a", next: "z" });
	});

	it.each([
		["a -->|yes| z", "yes"],
		["a --> | yes | z", "yes"],
		["a ---|yes| z", "yes"],
		["a -.->|yes|z", "yes"],
		["a ==>|yes| z", "yes"],
		['a -->|"yes | no"| z', "yes | no"],
		['a -->| "yes" | z', "yes"],
		["a -- yes --> z", "yes"],
		["a --yes--> z", "yes"],
		["a -- yes, do-it --- z", "yes, do-it"],
		['a -- "yes" --> z', "yes"],
		["a -. yes .-> z", "yes"],
		["a == yes ==> z", "yes"],
	])("reads the label of '%s'", (line, label) => {
		expect(parse(line, "a -->|other| a").nodes.get("a")).toEqual({
			kind: "decision",
			text: "a",
			branches: new Map([
				[label, "z"],
				["other", "a"],
			]),
		});
	});

	it.each([
		["a[Do it]", "Do it"],
		["a(Do it)", "Do it"],
		["a{Do it}", "Do it"],
		["a([Do it])", "Do it"],
		["a((Do it))", "Do it"],
		["a[[Do it]]", "Do it"],
		["a{{Do it}}", "Do it"],
		["a[(Do it)]", "Do it"],
		["a[(First) do it]", "(First) do it"],
		["a[Do it (now)]", "Do it (now)"],
		["a( Do [it] )", "Do [it]"],
		['a["Do [it] --> |now|"]', "Do [it] --> |now|"],
		['a(["Do it"])', "Do it"],
		['a[ "Do it" ]', "Do it"],
		['a[Say "hello"]', 'Say "hello"'],
		["a[Do it]:::loud", "Do it"],
		["a", "a"],
	])("reads the node '%s'", (node, text) => {
		for (const lines of [[node, "a --> z"], [`${node} --> z`], ["a --> z", node]]) {
			expect(parse(...lines).nodes.get("a")).toEqual({ kind: "task", text, next: "z" });
		}
	});

	it.each(["größe-2.b", "a-b", "END_", "1"])("reads '%s' as an id", (id) => {
		expect(parse(`a --> ${id}`, `${id}-->z`).nodes.get(id)).toEqual({ kind: "task", text: id, next: "z" });
	});

	it.each([
		"%% note --> note",
		"%%{init: {}}%%",
		"style a fill:#f9f",
		"linkStyle 0 stroke:red",
		"classDef loud fill:#f9f",
		"class a loud",
		'click a "https://example.org"',
		"subgraph one [Title]",
		"direction LR",
		"end",
		"",
	])("ignores '%s'", (line) => {
		expect(parse(line, "a --> z")).toEqual(parse("a --> z"));
		expect(parse(line, "a --> z").nodes.size).toBe(4);
	});

	it.each(["flowchart", "graph", "flowchart LR", "graph TD;", "%% note\nflowchart TB"])(
		"may start with '%s'",
		(line) => {
			expect(parseMermaid(`${line}\n${around("a --> z")}`, 1)).toEqual(parse("a --> z"));
		},
	);

	it("reads keywords of styles as ids when an arrow follows", () => {
		expect(parse("a --> style", "style --> class", "class -.-> z").nodes.size).toBe(6);
	});

	it("identifies begin and end by their labels, in any case", () => {
		const { begin, nodes } = parseMermaid("x[begin] --> y\ny --> z(End)", 1);
		expect(begin).toBe("x");
		expect(nodes.get("z")).toEqual({ kind: "end" });
		expect(refusal("BEGIN[Start] --> END")).toBe("there is no node BEGIN");
	});

	it("ends after a node without edges, and ignores edges from the end", () => {
		const { nodes } = parse("a -->|x| z", "a -->|y| b", "END --> a", "END --> b");
		expect(nodes.get("b")).toEqual({ kind: "task", text: "b", next: "END" });
		expect(nodes.get("END")).toEqual({ kind: "end" });
	});

	it("accepts a repeated identical label", () => {
		expect(parse("a[A] --> z", "a[A]", "a").nodes.get("a")).toEqual({ kind: "task", text: "A", next: "z" });
	});

	it.each([
		["", "there is no node BEGIN"],
		["BEGIN --> a", "there is no node END"],
		["END --> a", "there is no node BEGIN"],
		["BEGIN --> a\nb[begin] --> a\na --> END", 'line 12: there is a second node BEGIN: "b" besides "BEGIN"'],
		["BEGIN --> END\nBEGIN2 --> x[End]", 'line 12: there is a second node END: "x" besides "END"'],
		["BEGIN --> a\nb --> END", "END cannot be reached from BEGIN"],
		["BEGIN\nEND", "END cannot be reached from BEGIN"],
		["END --> BEGIN", "END cannot be reached from BEGIN"],
		[
			"BEGIN -->|x| END\nBEGIN -->|y| a",
			'line 12: BEGIN ("BEGIN") has several outgoing edges; lead it to a decision node instead',
		],
		[
			"BEGIN --> a\na -->|yes| END\na --> b",
			'line 13: node "a" has several edges out, and the one to "b" has no label',
		],
		[
			"BEGIN --> a\na -->|| END\na -->|x| b",
			'line 12: node "a" has several edges out, and the one to "END" has no label',
		],
		["BEGIN --> a\na -->|x| END\na -- x --> b", 'line 13: node "a" has two edges out with the label "x"'],
		["BEGIN --> a[A]\na[B] --> END", 'line 12: node "a" has the label "A" already (line 11)'],
		["BEGIN --> a --> END", 'line 11: "--> END" is not expected here: write one edge per line'],
		["BEGIN --> a & b", 'line 11: "& b" is not expected here: write one edge per line'],
		["BEGIN --> a[Do it", 'line 11: the brackets are not closed at "[Do it"'],
		["BEGIN --> a[ ]", "line 11: the label of a node is empty"],
		["BEGIN --> ", "line 11: a node is expected at the end of the line"],
		["--> END", 'line 11: a node is expected at "--> END"'],
		["BEGIN -->|yes END", 'line 11: a node is expected at "|yes END"'],
		["BEGIN -- yes END", 'line 11: an arrow is expected at "-- yes END"'],
		["BEGIN <--> END", 'line 11: an arrow is expected at "<--> END"'],
		["\nsequenceDiagram\nA->>B: hello", 'line 13: an arrow is expected at "->>B: hello"'],
		[
			"Once upon a time there was a very long line of text",
			'line 11: an arrow is expected at "upon a time there was a very long line o…"',
		],
	])("refuses %j: %s", (source, reason) => {
		expect(refusal(source)).toBe(reason);
	});

	it("throws only errors with a reason, whatever the text", () => {
		const piece = fc.oneof(
			fc.constantFrom(
				"a",
				"b",
				"BEGIN",
				"END",
				" ",
				"\n",
				"-->",
				"---",
				"-.->",
				"==>",
				"--",
				"-.",
				"==",
				"|",
				'"',
				"x",
			),
			fc.constantFrom("[", "]", "(", ")", "{", "}", ";", ":::", "%%", "flowchart", "style", "end", "\r"),
			fc.string({ unit: "binary", maxLength: 3 }),
		);
		fc.assert(
			fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
				const source = pieces.join("");
				try {
					const { begin, nodes } = parseMermaid(source, 1);
					expect(nodes.get(begin)?.kind).toBe("begin");
				} catch (thrown) {
					expect(thrown).toBeInstanceOf(FlowError);
				}
			}),
			{ numRuns: 1000 },
		);
	});

	it.each(["-", "=", ".", " ", "|", '"', "[", "(", "{", "a", "a-", ":", ";", "-.", "a ", "--a", "%", "\n"])(
		"reads a long repetition of %j in bounded time",
		(sign) => {
			const run = sign.repeat(200_000 / sign.length);
			for (const source of [
				run,
				`a${run}`,
				`a ${run}`,
				`a --${run}`,
				`a -->|${run}`,
				`a[${run}`,
				`a["${run}`,
				`a -->${run}b`,
			])
				expect(refusal(source)).not.toBe("");
		},
	);
});
