// Parses flows drawn in D2: nodes, edges and chains of edges at the top level. Maps and properties, which only concern
// the appearance, are skipped.
import { type D2Key, type D2Statement, readD2Statements } from "./d2-statements.ts";
import type { Flow } from "./flow.ts";
import { createFlowGraph, FlowError } from "./flow-graph.ts";

/** Reserved keys of D2. A node with such a name is quoted where it gets its label. */
const reserved: ReadonlySet<string> = new Set([
	...["shape", "style", "direction", "label", "icon", "near", "width", "height", "top", "left", "link", "tooltip"],
	...["class", "classes", "vars", "constraint", "layers", "scenarios", "steps", "source-arrowhead", "target-arrowhead"],
	...["grid-rows", "grid-columns", "grid-gap", "horizontal-gap", "vertical-gap"],
]);

/** Reads the diagram's source, whose first line is line `firstLine` for messages. Throws FlowError. */
export function parseD2(source: string, firstLine: number): Flow {
	const graph = createFlowGraph();
	for (const { line, keys, value } of readD2Statements(source, firstLine, isProperty)) {
		if (isProperty(keys)) continue;
		const ids = keys.map((key) => toId(key, line));
		for (const id of ids) graph.node(id, ids.length === 1 ? value : null, line);
		// The label of a chain is that of each of its edges.
		for (const [index, to] of ids.slice(1).entries()) graph.edge(ids[index] ?? to, to, value, line);
	}
	return graph.toFlow();
}

function isProperty(keys: D2Statement["keys"]): boolean {
	const [{ text, isQuoted } = { text: "", isQuoted: false }, second] = keys;
	if (isQuoted) return false;
	// `(a -> b)[0].style` is a property of an edge, `*.style` one of every node.
	if (text.startsWith("(")) return true;
	return second === undefined && text.split(".").some((part) => reserved.has(part.trim()));
}

function toId({ text, isQuoted }: D2Key, line: number): string {
	if (text === "") throw new FlowError(line, "a node is missing here");
	if (!isQuoted && /<-|--|<$/.test(text)) {
		throw new FlowError(line, `"${text}" has an arrow that is not understood: write "a -> b"`);
	}
	return text;
}
