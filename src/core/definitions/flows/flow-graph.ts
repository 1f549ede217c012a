import type { Flow, FlowNode } from "./flow.ts";

export class FlowError extends Error {
	override readonly name = "FlowError";
	/** Line in the text that contains the diagram, counted from 1; null if no line is at fault. */
	readonly line: number | null;
	/** A clause without a full stop. */
	readonly reason: string;

	constructor(line: number | null, reason: string) {
		super(line === null ? reason : `line ${line}: ${reason}`);
		this.line = line;
		this.reason = reason;
	}
}

interface DrawnNode {
	readonly id: string;
	label: string | null;
	line: number;
	readonly out: DrawnEdge[];
}

interface DrawnEdge {
	readonly to: string;
	readonly label: string | null;
	readonly line: number;
}

export interface FlowGraph {
	/** Adds or refers to a node. Throws FlowError for a second label. */
	node(id: string, label: string | null, line: number): void;
	edge(from: string, to: string, label: string | null, line: number): void;
	/** Throws FlowError if the graph is not a valid flow. */
	toFlow(): Flow;
}

export function createFlowGraph(): FlowGraph {
	const nodes = new Map<string, DrawnNode>();
	const named = (id: string, line: number): DrawnNode => {
		const node = nodes.get(id) ?? { id, label: null, line, out: [] };
		nodes.set(id, node);
		return node;
	};
	return {
		node(id, label, line) {
			const node = named(id, line);
			if (label === null || label === node.label) return;
			if (node.label !== null) {
				throw new FlowError(line, `node "${id}" has the label "${node.label}" already (line ${node.line})`);
			}
			node.label = label;
			node.line = line;
		},
		edge(from, to, label, line) {
			named(from, line).out.push({ to, label, line });
			named(to, line);
		},
		toFlow: () => toFlow([...nodes.values()]),
	};
}

function toFlow(nodes: readonly DrawnNode[]): Flow {
	const begin = findOnly("BEGIN", nodes);
	const end = findOnly("END", nodes);
	if (!isReachable(end, begin, nodes)) throw new FlowError(null, "END cannot be reached from BEGIN");
	return { begin: begin.id, nodes: new Map(nodes.map((node) => [node.id, toFlowNode(node, begin, end)])) };
}

const textOf = ({ id, label }: DrawnNode) => label ?? id;

function findOnly(word: string, nodes: readonly DrawnNode[]): DrawnNode {
	const [only, second] = nodes.filter((node) => textOf(node).toUpperCase() === word);
	if (only === undefined) throw new FlowError(null, `there is no node ${word}`);
	if (second !== undefined) {
		throw new FlowError(second.line, `there is a second node ${word}: "${second.id}" besides "${only.id}"`);
	}
	return only;
}

function isReachable(target: DrawnNode, start: DrawnNode, nodes: readonly DrawnNode[]): boolean {
	const byId = new Map(nodes.map((node) => [node.id, node]));
	const reached = new Set([start.id]);
	// Iterating over a set includes elements added meanwhile.
	for (const id of reached) for (const { to } of byId.get(id)?.out ?? []) reached.add(to);
	return reached.has(target.id);
}

function toFlowNode(node: DrawnNode, begin: DrawnNode, end: DrawnNode): FlowNode {
	const { id, out } = node;
	const [first, second] = out;
	const next = first?.to ?? end.id;
	if (node === end) return { kind: "end" };
	if (node === begin) {
		if (second === undefined) return { kind: "begin", next };
		throw new FlowError(second.line, `BEGIN ("${id}") has several outgoing edges; lead it to a decision node instead`);
	}
	const text = textOf(node);
	if (second === undefined) return { kind: "task", text, next };
	const branches = new Map<string, string>();
	for (const { to, label, line } of out) {
		if (label === null) {
			throw new FlowError(line, `node "${id}" has several edges out, and the one to "${to}" has no label`);
		}
		if (branches.has(label)) throw new FlowError(line, `node "${id}" has two edges out with the label "${label}"`);
		branches.set(label, to);
	}
	return { kind: "decision", text, branches };
}
