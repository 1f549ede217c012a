// Prompt templates: `${NAME}`, `{% if %}`, `{% for %}`, `{% include %}` and comments, read once and rendered with values.
// Values are put in as they are: nothing in them is taken for markup.
import path from "node:path";
import { errorText } from "../base/errors.ts";
import type { Files } from "../files/port.ts";
import {
	type Expression,
	ExpressionError,
	isTruthy,
	parseExpression,
	type Scope,
	type TemplateValue,
} from "./template-expression.ts";

export interface PromptTemplate {
	/** Absolute. */
	readonly file: string;
	/** The template itself and all that it includes, by file. */
	readonly parts: ReadonlyMap<string, readonly TemplateNode[]>;
}

type TemplateNode =
	| { readonly kind: "text"; readonly text: string }
	| { readonly kind: "value"; readonly expression: Expression; readonly line: number }
	| { readonly kind: "if"; readonly branches: readonly Branch[] }
	| {
			readonly kind: "for";
			readonly name: string;
			readonly list: Expression;
			readonly body: readonly TemplateNode[];
			readonly line: number;
	  }
	| { readonly kind: "include"; readonly name: string; readonly line: number };

type Include = Extract<TemplateNode, { kind: "include" }>;

interface Branch {
	readonly condition: Expression;
	readonly body: readonly TemplateNode[];
	readonly line: number;
}

/** A template that cannot be read or rendered. */
export class TemplateError extends Error {
	override readonly name = "TemplateError";
	readonly file: string;
	/** From 1; 0 for the whole file. */
	readonly line: number;
	/** A clause without full stop. */
	readonly reason: string;

	constructor(file: string, line: number, reason: string, cause?: unknown) {
		super(`${file}${line === 0 ? "" : `, line ${line}`}: ${reason}`, { cause });
		this.file = file;
		this.line = line;
		this.reason = reason;
	}
}

/** Reads a template with what it includes; names of included files are relative to its directory. Throws TemplateError. */
export async function loadPromptTemplate(file: string, files: Files): Promise<PromptTemplate> {
	const parts = new Map<string, readonly TemplateNode[]>();
	const load = async (part: string, trail: readonly string[]): Promise<void> => {
		const text = await readText(part, files);
		const nodes = parseTemplate(text, part);
		parts.set(part, nodes);
		for (const { name, line } of includesOf(nodes)) {
			const included = path.resolve(path.dirname(file), name);
			if ([...trail, part].includes(included)) throw new TemplateError(part, line, `includes itself through "${name}"`);
			if (parts.has(included)) continue;
			await load(included, [...trail, part]).catch((thrown: unknown) => {
				const isMissing = thrown instanceof TemplateError && thrown.file === included && thrown.line === 0;
				throw isMissing ? new TemplateError(part, line, `cannot include "${name}": ${thrown.reason}`, thrown) : thrown;
			});
		}
	};
	await load(file, []);
	return { file, parts };
}

/** The text, trimmed. Throws TemplateError for a variable that is not defined and for a value that is no text. */
export function renderTemplate(template: PromptTemplate, scope: Scope): string {
	return renderPart(template, template.file, scope).trim();
}

async function readText(file: string, files: Files): Promise<string> {
	try {
		const status = await files.status(file);
		if (status === null) throw new TemplateError(file, 0, "there is no such file");
		if (status.kind !== "file") throw new TemplateError(file, 0, "is not a file");
		return ((await files.read(file)) ?? "").toString().replace(/^\ufeff/, "");
	} catch (thrown) {
		if (thrown instanceof TemplateError) throw thrown;
		throw new TemplateError(file, 0, `cannot be read: ${errorText(thrown)}`, thrown);
	}
}

function includesOf(nodes: readonly TemplateNode[]): Include[] {
	return nodes.flatMap(includesIn);
}

function includesIn(node: TemplateNode): Include[] {
	switch (node.kind) {
		case "include":
			return [node];
		case "if":
			return node.branches.flatMap(({ body }) => includesOf(body));
		case "for":
			return includesOf(node.body);
		case "text":
		case "value":
			return [];
	}
}

type Piece =
	| { readonly kind: "text"; readonly text: string; readonly line: number }
	| { readonly kind: "value"; readonly source: string; readonly line: number }
	| { readonly kind: "tag"; readonly word: string; readonly rest: string; readonly line: number };

const opening = /\$\{|\{%|\{#/g;
const valuePattern = /\$\{((?:"[^"]*"|'[^']*'|[^"'}])*)\}/y;
const tagPattern = /\{%([-+]?)\s*((?:"[^"]*"|'[^']*'|[^"'%]|%(?!\}))*?)\s*([-+]?)%\}/y;
const commentPattern = /\{#([-+]?)([\s\S]*?)([-+]?)#\}/y;

/** Cuts a text at its markup. A tag that has a line to itself leaves no line behind; `-` takes all blank space. */
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

function parseTemplate(source: string, file: string): TemplateNode[] {
	const pieces = toPieces(source, file);
	let position = 0;

	const read = (text: string, line: number): Expression => {
		try {
			return parseExpression(text);
		} catch (thrown) {
			throw located(thrown, file, line);
		}
	};

	/** Up to one of the closing words, which is returned with its piece; null at the end of the text. */
	const parseBody = (
		closing: readonly string[],
	): { nodes: TemplateNode[]; end: Extract<Piece, { kind: "tag" }> | null } => {
		const nodes: TemplateNode[] = [];
		for (let piece = pieces[position]; piece !== undefined; piece = pieces[position]) {
			position += 1;
			if (piece.kind === "tag") {
				if (closing.includes(piece.word)) return { nodes, end: piece };
				nodes.push(parseTag(piece));
			} else if (piece.kind === "value") {
				nodes.push({ kind: "value", expression: read(piece.source, piece.line), line: piece.line });
			} else if (piece.text !== "") {
				nodes.push({ kind: "text", text: piece.text });
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

function renderPart(template: PromptTemplate, file: string, scope: Scope): string {
	const evaluate = (expression: Expression, line: number, inner: Scope): TemplateValue => {
		try {
			return expression(inner);
		} catch (thrown) {
			throw located(thrown, file, line);
		}
	};
	const render = (nodes: readonly TemplateNode[], inner: Scope): string =>
		nodes.map((node) => renderNode(node, inner)).join("");
	const renderNode = (node: TemplateNode, inner: Scope): string => {
		switch (node.kind) {
			case "text":
				return node.text;
			case "value": {
				const value = evaluate(node.expression, node.line, inner);
				if (typeof value !== "object") return String(value);
				if (value === null) return "";
				throw new TemplateError(file, node.line, "the value is a list or a map, not a text");
			}
			case "if": {
				const branch = node.branches.find(({ condition, line }) => isTruthy(evaluate(condition, line, inner)));
				return branch === undefined ? "" : render(branch.body, inner);
			}
			case "for": {
				const list = evaluate(node.list, node.line, inner);
				if (!Array.isArray(list)) throw new TemplateError(file, node.line, "a loop needs a list");
				return list.map((item: TemplateValue) => render(node.body, new Map(inner).set(node.name, item))).join("");
			}
			case "include":
				return renderPart(template, path.resolve(path.dirname(template.file), node.name), inner);
		}
	};
	return render(template.parts.get(file) ?? [], scope);
}

function located(thrown: unknown, file: string, line: number): unknown {
	return thrown instanceof ExpressionError ? new TemplateError(file, line, thrown.message, thrown) : thrown;
}
