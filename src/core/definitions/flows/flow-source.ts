import type { Flow } from "./flow.ts";
import { parseD2 } from "./flow-d2.ts";
import { FlowError } from "./flow-graph.ts";
import { parseMermaid } from "./flow-mermaid.ts";

export type ParsedFlow =
	| { readonly ok: true; readonly flow: Flow }
	/** A clause without a full stop; line numbers refer to the text. */
	| { readonly ok: false; readonly reason: string };

const diagramLimit = 128 * 1024;

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
	readonly firstLine: number;
}

const fencePattern = /^\s*(`{3,}(?=[^`]*$)|~{3,})\s*(\S*)/;

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

/** Whether a line consists only of the fence sign, at least as often as the fence. */
function isClosing(line: string, fence: string): boolean {
	const text = line.trim();
	return text.startsWith(fence) && [...new Set(text)].length === 1;
}
