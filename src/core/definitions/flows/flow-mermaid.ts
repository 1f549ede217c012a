import type { Flow } from "./flow.ts";
import { createFlowGraph, FlowError } from "./flow-graph.ts";

const header = /^(?:flowchart|graph)(?:\s+[A-Za-z]{2})?$/;
const looks = /^(?:end$|(?:style|linkStyle|classDef|class|click|subgraph|direction)(?:$|\s+(?![-=]{2}|-\.)))/;
// A single dash is part of an id, two begin an arrow: `a-b` is a node, `a--b` is not.
const idPattern = /[\p{L}\p{N}_]+(?:[-.][\p{L}\p{N}_]+)*/uy;
const classPattern = /\s*:::[\w-]+/y;
const plainArrow = /-{2,}>|-{3,}|-{2,}[ox](?=\s)|-\.+->|-\.+-|={2,}>|={3,}|={2,}[ox](?=\s)/y;
const pipedLabel = /\s*\|(?:\s*"([^"]*)"\s*|([^|]*))\|/y;
/** Arrows that contain their label: the start and the end pattern. */
const openArrows: readonly (readonly [begin: string, end: RegExp])[] = [
	["--", /-{2,}>|-{3,}|-{2,}[ox](?=\s)/g],
	["-.", /\.-+>|\.-/g],
	["==", /={2,}>|={3,}|={2,}[ox](?=\s)/g],
];
const closingBracket: ReadonlyMap<string, string> = new Map([
	["[", "]"],
	["(", ")"],
	["{", "}"],
]);

export function parseMermaid(source: string, firstLine: number): Flow {
	const graph = createFlowGraph();
	let isFirst = true;
	for (const [index, whole] of source.split(/\r?\n/).entries()) {
		const text = trimStatement(whole);
		if (text === "" || text.startsWith("%%")) continue;
		const isHeader = isFirst && header.test(text);
		isFirst = false;
		if (!isHeader && !looks.test(text)) readStatement(text, firstLine + index, graph);
	}
	return graph.toFlow();
}

const trimStatement = (line: string): string => {
	const text = line.trim();
	return text.endsWith(";") ? text.slice(0, -1).trimEnd() : text;
};

interface Place {
	readonly text: string;
	readonly line: number;
	position: number;
}

function readStatement(text: string, line: number, graph: ReturnType<typeof createFlowGraph>): void {
	const place: Place = { text, line, position: 0 };
	const from = readNode(place);
	graph.node(from.id, from.label, line);
	skipSpace(place);
	if (place.position === text.length) return;
	const label = readArrow(place);
	skipSpace(place);
	const to = readNode(place);
	graph.node(to.id, to.label, line);
	graph.edge(from.id, to.id, label, line);
	skipSpace(place);
	if (place.position < text.length) {
		throw new FlowError(line, `${quoteRest(place)} is not expected here: write one edge per line`);
	}
}

function readNode(place: Place): { readonly id: string; readonly label: string | null } {
	const id = take(idPattern, place)?.[0];
	if (id === undefined) throw new FlowError(place.line, `a node is expected ${whereItStops(place)}`);
	const label = readShape(place);
	take(classPattern, place);
	return { id, label };
}

/** The bracketed label after a node, such as `[a]`, `(a)`, `{a}`, `([a])`, `["a"]`; null if none. */
function readShape(place: Place): string | null {
	const { text, line, position } = place;
	if (!closingBracket.has(text[position] ?? "")) return null;
	for (const depth of [3, 2, 1]) {
		const brackets = [...text.slice(position, position + depth)];
		const closing = brackets
			.reverse()
			.map((bracket) => closingBracket.get(bracket) ?? "")
			.join("");
		if (closing.length < depth) continue;
		const found = findLabel(text, position + depth, closing);
		if (found === null) continue;
		place.position = found.end;
		if (found.label === null) throw new FlowError(line, "the label of a node is empty");
		return found.label;
	}
	throw new FlowError(line, `the brackets are not closed ${whereItStops(place)}`);
}

function findLabel(text: string, start: number, closing: string): { label: string | null; end: number } | null {
	const quote = text[start] === '"' ? text.indexOf(`"${closing}`, start + 1) : -1;
	if (quote !== -1) return { label: text.slice(start + 1, quote).trim() || null, end: quote + 1 + closing.length };
	const end = text.indexOf(closing, start);
	if (end === -1) return null;
	const label = text.slice(start, end);
	// With several brackets, the label must contain none, or they belong to something else.
	if (closing.length > 1 && /[[\](){}]/.test(label)) return null;
	return { label: toLabel(label), end: end + closing.length };
}

/** Skips an arrow and returns its label, or null. */
function readArrow(place: Place): string | null {
	if (take(plainArrow, place) !== null) {
		const [, quoted, bare = ""] = take(pipedLabel, place) ?? [];
		return quoted?.trim() || toLabel(bare);
	}
	const { text, position } = place;
	for (const [begin, end] of openArrows) {
		if (!text.startsWith(begin, position)) continue;
		end.lastIndex = position + begin.length;
		const match = end.exec(text);
		if (match === null) continue;
		place.position = end.lastIndex;
		return toLabel(text.slice(position + begin.length, match.index));
	}
	throw new FlowError(place.line, `an arrow is expected ${whereItStops(place)}`);
}

/** Strips quotes and blank space; null if nothing remains. */
function toLabel(text: string): string | null {
	const label = /^\s*"([^"]*)"\s*$/.exec(text)?.[1] ?? text;
	return label.trim() || null;
}

/** Matches a sticky pattern at the place and advances past the match. */
function take(pattern: RegExp, place: Place): RegExpExecArray | null {
	pattern.lastIndex = place.position;
	const match = pattern.exec(place.text);
	if (match !== null) place.position = pattern.lastIndex;
	return match;
}

function skipSpace(place: Place): void {
	while (/\s/.test(place.text[place.position] ?? "")) place.position += 1;
}

function whereItStops(place: Place): string {
	return place.position < place.text.length ? `at ${quoteRest(place)}` : "at the end of the line";
}

const restLimit = 40;

const quoteRest = ({ text, position }: Place): string =>
	`"${text.slice(position, position + restLimit)}${text.length > position + restLimit ? "…" : ""}"`;
