import { type D2Key, type D2Statement, readD2Statements } from "./d2-statements.ts";
import type { Flow } from "./flow.ts";
import { createFlowGraph, FlowError } from "./flow-graph.ts";

/** Reserved D2 keys. A node with such a name must be quoted where it gets its label. */
const reserved: ReadonlySet<string> = new Set([
	...["shape", "style", "direction", "label", "icon", "near", "width", "height", "top", "left", "link", "tooltip"],
	...["class", "classes", "vars", "constraint", "layers", "scenarios", "steps", "source-arrowhead", "target-arrowhead"],
	...["grid-rows", "grid-columns", "grid-gap", "horizontal-gap", "vertical-gap"],
]);

/** Parses the diagram source; its first line is `firstLine` in messages. Throws FlowError. */
export function parseD2(source: string, firstLine: number): Flow {
	const graph = createFlowGraph();
	for (const { line, keys, value } of readD2Statements(source, firstLine, isProperty)) {
		if (isProperty(keys)) continue;
		const ids = keys.map((key) => toId(key, line));
		for (const id of ids) graph.node(id, ids.length === 1 ? value : null, line);
		// A chain's label applies to each of its edges.
		for (const [index, to] of ids.slice(1).entries()) graph.edge(ids[index] ?? to, to, value, line);
	}
	return graph.toFlow();
}

function isProperty(keys: D2Statement["keys"]): boolean {
	const [{ text, isQuoted } = { text: "", isQuoted: false }, second] = keys;
	if (isQuoted) return false;
	// `(a -> b)[0].style` is an edge property; `*.style` applies to all nodes.
	if (text.startsWith("(")) return true;
	return second === undefined && text.split(".").some((part) => reserved.has(part.trim()));
}

function toId({ text, isQuoted }: D2Key, line: number): string {
	if (text === "") throw new FlowError(line, "a node is missing here");
	if (!isQuoted && /<-|--|<$/.test(text)) {
		throw new FlowError(line, `"${text}" has an unknown arrow: write "a -> b"`);
	}
	return text;
}
