// Splits D2 source into statements: handles comments, quotes, block texts and nested maps. flow-d2.ts builds a flow
// from them.
import { FlowError } from "./flow-graph.ts";

/** `KEY`, `KEY: VALUE`, `KEY -> KEY: VALUE` and so on; a map that follows is skipped. */
export interface D2Statement {
	readonly line: number;
	/** The keys between the arrows; a single one without arrows. */
	readonly keys: readonly D2Key[];
	/** Null when there is none or it is empty. */
	readonly value: string | null;
}

export interface D2Key {
	readonly text: string;
	readonly isQuoted: boolean;
}

const dashes = /-+>?/y;
const doubleQuoted = /"([^"\\\n]*(?:\\[^\n][^"\\\n]*)*)"/y;
const singleQuoted = /'([^'\n]*(?:''[^'\n]*)*)'/y;
/** `|md`, `||md`, `` |`md ``: reversed, the opening signs close the block. */
const blockOpening = /(\|+)(?:([^\p{L}\p{N}\s|]*)\p{L}[\w-]*(?=\s))?/uy;
const list = /\[[^\]]*\]/y;
const blanks = /[^\S\n]+/y;
const plainRun = /[^-\n;{}#:"'|\s]+/y;
const anySign = /[\s\S]/y;

/**
 * Splits a source whose first line is line `firstLine`. `isProperty` identifies keys whose values may be lists. Throws
 * FlowError.
 */
export function readD2Statements(
	source: string,
	firstLine: number,
	isProperty: (keys: readonly D2Key[]) => boolean,
): D2Statement[] {
	let position = 0;
	let line = firstLine;

	const peek = (): string => source[position] ?? "";
	const take = (pattern: RegExp): RegExpExecArray | null => {
		pattern.lastIndex = position;
		const match = pattern.exec(source);
		if (match !== null) advance(pattern.lastIndex);
		return match;
	};
	const advance = (end: number): void => {
		for (; position < end; position += 1) if (source[position] === "\n") line += 1;
	};
	const skipLine = (): void => {
		const end = source.indexOf("\n", position);
		position = end === -1 ? source.length : end;
	};
	const isComment = (): boolean => peek() === "#" && (position === 0 || /\s/.test(source[position - 1] ?? ""));

	const takeQuoted = (): string | null => {
		const double = peek() === '"' ? take(doubleQuoted)?.[1] : undefined;
		if (double !== undefined) return double.replace(/\\(["\\n])/g, (_, sign) => (sign === "n" ? "\n" : sign));
		const single = peek() === "'" ? take(singleQuoted)?.[1] : undefined;
		return single?.replaceAll("''", "'") ?? null;
	};
	const takeBlock = (): string => {
		const start = line;
		const [, pipes = "", signs = ""] = take(blockOpening) ?? [];
		const closing = [...signs].reverse().join("") + pipes;
		const end = source.indexOf(closing, position);
		if (end === -1) throw new FlowError(start, `the block text is not closed: "${closing}" is missing`);
		const text = source.slice(position, end);
		advance(end + closing.length);
		return dedent(text);
	};
	/** Skips a map, from its opening brace to the position after its closing one. */
	const skipMap = (): void => {
		const start = line;
		let depth = 0;
		// The previous sign except blanks: quotes and block texts have a meaning only at a beginning.
		let before = "\n";
		do {
			const sign = peek();
			if (sign === "") throw new FlowError(start, 'the map is not closed: "}" is missing');
			if (isComment()) skipLine();
			else if (take(blanks) === null) {
				if (sign === "|" && before === ":") takeBlock();
				else if (!"{};:>\n".includes(before) || takeQuoted() === null) advance(position + 1);
				if (sign === "{") depth += 1;
				if (sign === "}") depth -= 1;
				before = sign;
			}
		} while (depth > 0);
	};

	const readKeys = (): D2Key[] => {
		const keys: D2Key[] = [];
		let text = "";
		let isQuoted = false;
		let isStart = true;
		const close = (): void => {
			keys.push({ text: text.trim(), isQuoted });
			text = "";
			isQuoted = false;
			isStart = true;
		};
		while (!":{};\n".includes(peek()) && !isComment()) {
			const quoted = isStart ? takeQuoted() : null;
			if (quoted !== null) {
				text += quoted;
				isQuoted = true;
				isStart = false;
				continue;
			}
			const piece = (take(dashes) ?? take(plainRun) ?? take(anySign))?.[0] ?? "";
			if (/^-+>$/.test(piece)) {
				close();
			} else {
				text += piece;
				if (piece.trim() !== "") isStart = piece.endsWith(".");
			}
		}
		close();
		return keys;
	};
	const readValue = (keys: readonly D2Key[]): string => {
		take(blanks);
		if (isProperty(keys) && take(list) !== null) return "";
		if (peek() === "|") return takeBlock();
		const quoted = takeQuoted();
		if (quoted !== null) return quoted;
		const start = position;
		while (!"{};\n".includes(peek()) && !isComment()) advance(position + 1);
		return source.slice(start, position);
	};

	const statements: D2Statement[] = [];
	while (position < source.length) {
		if (/[\s;]/.test(peek())) {
			advance(position + 1);
		} else if (peek() === "#") {
			skipLine();
		} else if (source.startsWith('"""', position)) {
			const end = source.indexOf('"""', position + 3);
			advance(end === -1 ? source.length : end + 3);
		} else {
			const start = line;
			const keys = readKeys();
			let value = "";
			if (peek() === ":") {
				advance(position + 1);
				value = readValue(keys).trim();
			}
			take(blanks);
			if (peek() === "{") skipMap();
			take(blanks);
			if (!";\n".includes(peek()) && !isComment()) {
				throw new FlowError(
					line,
					`${quote(peek())} is not expected here: a text with braces or quotes in it goes into quotes`,
				);
			}
			statements.push({ line: start, keys, value: value === "" ? null : value });
		}
	}
	return statements;
}

const quote = (sign: string) => (sign === '"' ? "'\"'" : `"${sign}"`);

/** Removes the indentation that all lines share; the text on the opening line has none. */
function dedent(text: string): string {
	const [first = "", ...lines] = text.split(/\r?\n/);
	const indents = lines.flatMap((line) => (line.trim() === "" ? [] : [/^\s*/.exec(line)?.[0].length ?? 0]));
	const shared = indents.reduce((least, indent) => Math.min(least, indent), Number.POSITIVE_INFINITY);
	return [first.trim(), ...lines.map((line) => line.slice(shared).trimEnd())].join("\n").trim();
}
