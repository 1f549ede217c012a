import { FlowError } from "./flow-graph.ts";

/** `KEY`, `KEY: VALUE`, `KEY -> KEY: VALUE` and so on; a following map is skipped. */
export interface D2Statement {
	readonly line: number;
	/** The keys between the arrows; a single key without arrows. */
	readonly keys: readonly D2Key[];
	/** Null if missing or empty. */
	readonly value: string | null;
}

export interface D2Key {
	readonly text: string;
	readonly isQuoted: boolean;
}

const dashes = /-+>?/y;
const doubleQuoted = /"([^"\\\n]*(?:\\[^\n][^"\\\n]*)*)"/y;
const singleQuoted = /'([^'\n]*(?:''[^'\n]*)*)'/y;
/** `|md`, `||md`, `` |`md ``: the reversed opening signs close the block. */
const blockOpening = /(\|+)(?:([^\p{L}\p{N}\s|]*)\p{L}[\w-]*(?=\s))?/uy;
const list = /\[[^\]]*\]/y;
const blanks = /[^\S\n]+/y;
const plainRun = /[^-\n;{}#:"'|\s]+/y;
const anySign = /[\s\S]/y;

/** Splits a source; its first line is `firstLine`. `isProperty` identifies keys whose values may be lists. Throws FlowError. */
export function readD2Statements(
	source: string,
	firstLine: number,
	isProperty: (keys: readonly D2Key[]) => boolean,
): D2Statement[] {
	return new StatementReader(source, firstLine, isProperty).readAll();
}

class StatementReader {
	readonly #source: string;
	readonly #isProperty: (keys: readonly D2Key[]) => boolean;
	#position = 0;
	#line: number;

	constructor(source: string, firstLine: number, isProperty: (keys: readonly D2Key[]) => boolean) {
		this.#source = source;
		this.#line = firstLine;
		this.#isProperty = isProperty;
	}

	readAll(): D2Statement[] {
		const statements: D2Statement[] = [];
		while (this.#position < this.#source.length) {
			if (/[\s;]/.test(this.#peek())) this.#advance(this.#position + 1);
			else if (this.#peek() === "#") this.#skipLine();
			else if (this.#source.startsWith('"""', this.#position)) {
				const end = this.#source.indexOf('"""', this.#position + 3);
				this.#advance(end === -1 ? this.#source.length : end + 3);
			} else statements.push(this.#readStatement());
		}
		return statements;
	}

	#readStatement(): D2Statement {
		const line = this.#line;
		const keys = this.#readKeys();
		let value = "";
		if (this.#peek() === ":") {
			this.#advance(this.#position + 1);
			value = this.#readValue(keys).trim();
		}
		this.#take(blanks);
		if (this.#peek() === "{") this.#skipMap();
		this.#take(blanks);
		if (!";\n".includes(this.#peek()) && !this.#isComment()) {
			throw new FlowError(
				this.#line,
				`${quote(this.#peek())} is not expected here: put text with braces or quotes in quotes`,
			);
		}
		return { line, keys, value: value === "" ? null : value };
	}

	#peek(): string {
		return this.#source[this.#position] ?? "";
	}

	#take(pattern: RegExp): RegExpExecArray | null {
		pattern.lastIndex = this.#position;
		const match = pattern.exec(this.#source);
		if (match !== null) this.#advance(pattern.lastIndex);
		return match;
	}

	#advance(end: number): void {
		for (; this.#position < end; this.#position += 1) if (this.#source[this.#position] === "\n") this.#line += 1;
	}

	#skipLine(): void {
		const end = this.#source.indexOf("\n", this.#position);
		this.#position = end === -1 ? this.#source.length : end;
	}

	#isComment(): boolean {
		return this.#peek() === "#" && (this.#position === 0 || /\s/.test(this.#source[this.#position - 1] ?? ""));
	}

	#takeQuoted(): string | null {
		const double = this.#peek() === '"' ? this.#take(doubleQuoted)?.[1] : undefined;
		if (double !== undefined) return double.replace(/\\(["\\n])/g, (_, sign) => (sign === "n" ? "\n" : sign));
		const single = this.#peek() === "'" ? this.#take(singleQuoted)?.[1] : undefined;
		return single?.replaceAll("''", "'") ?? null;
	}

	#takeBlock(): string {
		const start = this.#line;
		const [, pipes = "", signs = ""] = this.#take(blockOpening) ?? [];
		const closing = [...signs].reverse().join("") + pipes;
		const end = this.#source.indexOf(closing, this.#position);
		if (end === -1) throw new FlowError(start, `the block text is not closed: "${closing}" is missing`);
		const text = this.#source.slice(this.#position, end);
		this.#advance(end + closing.length);
		return dedent(text);
	}

	#skipMap(): void {
		const start = this.#line;
		let depth = 0;
		// The previous nonblank sign: quotes and block texts are only special at a beginning.
		let before = "\n";
		do {
			const sign = this.#peek();
			if (sign === "") throw new FlowError(start, 'the map is not closed: "}" is missing');
			if (this.#isComment()) this.#skipLine();
			else if (this.#take(blanks) === null) {
				if (sign === "|" && before === ":") this.#takeBlock();
				else if (!"{};:>\n".includes(before) || this.#takeQuoted() === null) this.#advance(this.#position + 1);
				if (sign === "{") depth += 1;
				if (sign === "}") depth -= 1;
				before = sign;
			}
		} while (depth > 0);
	}

	#readKeys(): D2Key[] {
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
		while (!":{};\n".includes(this.#peek()) && !this.#isComment()) {
			const quoted = isStart ? this.#takeQuoted() : null;
			if (quoted !== null) {
				text += quoted;
				isQuoted = true;
				isStart = false;
				continue;
			}
			const piece = (this.#take(dashes) ?? this.#take(plainRun) ?? this.#take(anySign))?.[0] ?? "";
			if (/^-+>$/.test(piece)) {
				close();
			} else {
				text += piece;
				if (piece.trim() !== "") isStart = piece.endsWith(".");
			}
		}
		close();
		return keys;
	}

	#readValue(keys: readonly D2Key[]): string {
		this.#take(blanks);
		if (this.#isProperty(keys) && this.#take(list) !== null) return "";
		if (this.#peek() === "|") return this.#takeBlock();
		const quoted = this.#takeQuoted();
		if (quoted !== null) return quoted;
		const start = this.#position;
		while (!"{};\n".includes(this.#peek()) && !this.#isComment()) this.#advance(this.#position + 1);
		return this.#source.slice(start, this.#position);
	}
}

const quote = (sign: string) => (sign === '"' ? "'\"'" : `"${sign}"`);

/** Removes the common indentation; the text on the opening line has none. */
function dedent(text: string): string {
	const [first = "", ...lines] = text.split(/\r?\n/);
	const indents = lines.flatMap((line) => (line.trim() === "" ? [] : [/^\s*/.exec(line)?.[0].length ?? 0]));
	const shared = indents.reduce((least, indent) => Math.min(least, indent), Number.POSITIVE_INFINITY);
	return [first.trim(), ...lines.map((line) => line.slice(shared).trimEnd())].join("\n").trim();
}
