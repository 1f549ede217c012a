// Extracts the flow from a skill's text: its first diagram, in one of the two languages.
import type { Flow } from "./flow.ts";
import { parseD2 } from "./flow-d2.ts";
import { FlowError } from "./flow-graph.ts";
import { parseMermaid } from "./flow-mermaid.ts";

export type ParsedFlow =
	| { readonly ok: true; readonly flow: Flow }
	/** A clause without full stop; lines are those of the text. */
	| { readonly ok: false; readonly reason: string };

/** Characters of the longest diagram. */
const diagramLimit = 128 * 1024;

/** Reads the first fenced `mermaid` or `d2` block of a Markdown text. Further ones are ignored. */
export function parseFlow(markdown: string): ParsedFlow {
	const block = findDiagram(markdown);
	if (block === null) return { ok: false, reason: "there is no fenced mermaid or d2 block" };
	if (block.source.length > diagramLimit) {
		return { ok: false, reason: `the diagram has more than ${diagramLimit} characters` };
	}
	try {
		const parse = block.language === "d2" ? parseD2 : parseMermaid;
		return { ok: true, flow: parse(block.source, block.firstLine) };
	} catch (thrown) {
		if (!(thrown instanceof FlowError)) throw thrown;
		return { ok: false, reason: thrown.message };
	}
}

interface Diagram {
	readonly language: "mermaid" | "d2";
	readonly source: string;
	/** From 1. */
	readonly firstLine: number;
}

const fencePattern = /^\s*(`{3,}(?=[^`]*$)|~{3,})\s*(\S*)/;

/** Blocks in other languages are skipped with their content. A block that is not closed extends to the end. */
function findDiagram(markdown: string): Diagram | null {
	const lines = markdown.split(/\r?\n/);
	for (let index = 0; index < lines.length; index += 1) {
		const [, fence, info = ""] = fencePattern.exec(lines[index] ?? "") ?? [];
		if (fence === undefined) continue;
		const start = index + 1;
		while (index + 1 < lines.length && !isClosing(lines[index + 1] ?? "", fence)) index += 1;
		index += 1;
		const language = info.toLowerCase();
		if (language === "mermaid" || language === "d2") {
			return { language, source: lines.slice(start, index).join("\n"), firstLine: start + 1 };
		}
	}
	return null;
}

/** Whether a line is a run of the same sign of at least that length, and nothing else. */
function isClosing(line: string, fence: string): boolean {
	const text = line.trim();
	return text.startsWith(fence) && [...new Set(text)].length === 1;
}
