import { type Expression, parseExpression } from "./template-expression.ts";
import { type Branch, located, TemplateError, type TemplateNode } from "./template-nodes.ts";

export const nestingLimit = 100;

type Piece =
	| { readonly kind: "text"; readonly text: string; readonly line: number }
	| { readonly kind: "value"; readonly source: string; readonly line: number }
	| { readonly kind: "tag"; readonly word: string; readonly rest: string; readonly line: number };

const opening = /\$\{|\{%|\{#/g;
const valuePattern = /\$\{((?:"[^"]*"|'[^']*'|[^"'}])*)\}/y;
const tagPattern = /\{%([-+]?)\s*((?:"[^"]*"|'[^']*'|[^"'%]|%(?!\}))*?)\s*([-+]?)%\}/y;
const commentPattern = /\{#([-+]?)([\s\S]*?)([-+]?)#\}/y;

/** Splits a text at its markup. A tag alone on a line leaves no empty line; `-` removes all adjacent blank space. */
function toPieces(source: string, file: string): Piece[] {
	const pieces: Piece[] = [];
	let position = 0;
	let line = 1;
	const advance = (end: number): void => {
		line += source.slice(position, end).split("\n").length - 1;
		position = end;
	};
	while (true) {
		opening.lastIndex = position;
		const start = opening.exec(source);
		const plain = source.slice(position, start?.index);
		if (start === null) return [...pieces, { kind: "text", text: plain, line }];
		const pattern = { "${": valuePattern, "{%": tagPattern, "{#": commentPattern }[start[0]] ?? valuePattern;
		pattern.lastIndex = start.index;
		const match = pattern.exec(source);
		const [whole = "", before = "", content = "", after = ""] = match ?? [];
		const isLineStart = position === 0 || source.slice(0, position).endsWith("\n");
		const text = pattern === valuePattern ? plain : trimBefore(plain, before, isLineStart);
		pieces.push({ kind: "text", text, line });
		advance(start.index);
		if (match === null) throw new TemplateError(file, line, `'${start[0]}' is not closed`);
		if (pattern === valuePattern) pieces.push({ kind: "value", source: before, line });
		if (pattern === tagPattern) {
			const [, word = "", rest = ""] = /^(\w*)([\s\S]*)$/.exec(content) ?? [];
			pieces.push({ kind: "tag", word, rest: rest.trim(), line });
		}
		const end = start.index + whole.length;
		const blank = pattern === valuePattern || after === "+" ? /^/ : after === "-" ? /^\s*/ : /^\r?\n?/;
		advance(end + (blank.exec(source.slice(end))?.[0].length ?? 0));
	}
}

function trimBefore(plain: string, mark: string, isLineStart: boolean): string {
	if (mark === "-") return plain.trimEnd();
	const blank = /(^|\n)[ \t]*$/.exec(plain);
	if (mark === "+" || blank === null || (blank[1] === "" && !isLineStart)) return plain;
	return plain.slice(0, blank.index) + blank[1];
}

/** Throws TemplateError, which names the file. */
export function parseTemplate(source: string, file: string): TemplateNode[] {
	const pieces = toPieces(source, file);
	let position = 0;
	let depth = 0;

	const read = (text: string, line: number): Expression => {
		try {
			return parseExpression(text);
		} catch (thrown) {
			throw located(thrown, file, line);
		}
	};

	const parseBody = (
		closing: readonly string[],
	): { nodes: TemplateNode[]; end: Extract<Piece, { kind: "tag" }> | null } => {
		const nodes: TemplateNode[] = [];
		for (let piece = pieces[position]; piece !== undefined; piece = pieces[position]) {
			position += 1;
			if (piece.kind === "tag") {
				if (closing.includes(piece.word)) return { nodes, end: piece };
				depth += 1;
				if (depth > nestingLimit) {
					throw new TemplateError(file, piece.line, `blocks nest more than ${nestingLimit} deep`);
				}
				nodes.push(parseTag(piece));
				depth -= 1;
			} else if (piece.kind === "value") {
				nodes.push({ kind: "value", expression: read(piece.source, piece.line), line: piece.line });
			} else if (piece.text !== "") {
				nodes.push({ kind: "text", text: piece.text, line: piece.line });
			}
		}
		return { nodes, end: null };
	};

	const parseTag = ({ word, rest, line }: Extract<Piece, { kind: "tag" }>): TemplateNode => {
		switch (word) {
			case "if":
				return parseIf(rest, line);
			case "for": {
				const [, name, list] = /^([A-Za-z_]\w*)\s+in\s+([\s\S]+)$/.exec(rest) ?? [];
				if (name === undefined || list === undefined) {
					throw new TemplateError(file, line, "a loop is written {% for NAME in LIST %}");
				}
				const { nodes, end } = parseBody(["endfor"]);
				if (end === null) throw new TemplateError(file, line, "{% for %} has no {% endfor %}");
				return { kind: "for", name, list: read(list, line), body: nodes, line };
			}
			case "include": {
				const [, double, single] = /^(?:"([^"]+)"|'([^']+)')$/.exec(rest) ?? [];
				const name = double ?? single;
				if (name === undefined) throw new TemplateError(file, line, 'write {% include "file" %}');
				return { kind: "include", name, line };
			}
			default:
				throw new TemplateError(file, line, `{% ${word} %} is not expected here`);
		}
	};

	const parseIf = (first: string, line: number): TemplateNode => {
		const branches: Branch[] = [];
		let condition = read(first, line);
		let conditionLine = line;
		while (true) {
			const { nodes, end } = parseBody(["elif", "else", "endif"]);
			if (end === null) throw new TemplateError(file, line, "{% if %} has no {% endif %}");
			branches.push({ condition, body: nodes, line: conditionLine });
			if (end.word === "endif") return { kind: "if", branches };
			if (end.word === "else") {
				const last = parseBody(["endif"]);
				if (last.end === null) throw new TemplateError(file, line, "{% if %} has no {% endif %}");
				branches.push({ condition: () => true, body: last.nodes, line: end.line });
				return { kind: "if", branches };
			}
			condition = read(end.rest, end.line);
			conditionLine = end.line;
		}
	};

	return parseBody([]).nodes;
}
