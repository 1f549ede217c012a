// Locates statements of a valid TOML text: values are skipped, not parsed or checked.

export interface TomlStatement {
	/** `[a.b]`, `[[a.b]]` or `key = value`. */
	readonly kind: "table" | "list-item" | "pair";
	/** A pair's path includes its table's keys. */
	readonly path: readonly string[];
	readonly start: number;
	readonly end: number;
	/** The value range of a pair; empty for others. */
	readonly valueStart: number;
	readonly valueEnd: number;
}

export function scanToml(text: string): readonly TomlStatement[] {
	const statements: TomlStatement[] = [];
	let table: readonly string[] = [];
	let position = text.startsWith("\ufeff") ? 1 : 0;
	while (position < text.length) {
		const start = position;
		position = skipBlanks(text, position);
		const character = text[position];
		if (character === undefined || character === "#" || character === "\r" || character === "\n") {
			position = nextLine(text, position);
			continue;
		}
		if (character === "[") {
			const isItem = text[position + 1] === "[";
			const header = readPath(text, position + (isItem ? 2 : 1));
			table = header.path;
			position = nextLine(text, header.end);
			const kind = isItem ? "list-item" : "table";
			statements.push({ kind, path: table, start, end: position, valueStart: start, valueEnd: start });
			continue;
		}
		const key = readPath(text, position);
		const valueStart = skipBlanks(text, key.end + 1);
		const valueEnd = skipValue(text, valueStart);
		position = nextLine(text, valueEnd);
		statements.push({ kind: "pair", path: [...table, ...key.path], start, end: position, valueStart, valueEnd });
	}
	return statements;
}

function match(pattern: RegExp, text: string, position: number): string {
	pattern.lastIndex = position;
	return pattern.exec(text)?.[0] ?? "";
}

function skipBlanks(text: string, position: number): number {
	let end = position;
	while (text[end] === " " || text[end] === "\t") end += 1;
	return end;
}

function nextLine(text: string, position: number): number {
	const newline = text.indexOf("\n", position);
	return newline === -1 ? text.length : newline + 1;
}

function readPath(text: string, start: number): { readonly path: readonly string[]; readonly end: number } {
	const path: string[] = [];
	let position = start;
	for (;;) {
		position = skipBlanks(text, position);
		const quote = text[position];
		if (quote === '"' || quote === "'") {
			const end = skipString(text, position);
			const inner = text.slice(position + 1, end - 1);
			path.push(quote === '"' ? readEscapes(inner) : inner);
			position = end;
		} else {
			const bare = match(/[A-Za-z0-9_-]*/y, text, position);
			path.push(bare);
			position += bare.length;
		}
		position = skipBlanks(text, position);
		if (text[position] !== ".") return { path, end: position };
		position += 1;
	}
}

const shortEscapes: Readonly<Record<string, string>> = { b: "\b", t: "\t", n: "\n", f: "\f", r: "\r", e: "\u001b" };

function readEscapes(inner: string): string {
	return inner.replace(/\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{2})|(.))/gu, (_, u, U, x, other) => {
		const code: string | undefined = u ?? U ?? x;
		return code === undefined ? (shortEscapes[other] ?? other) : String.fromCodePoint(Number.parseInt(code, 16));
	});
}

function skipValue(text: string, start: number): number {
	const first = text[start];
	if (first === '"' || first === "'") return skipString(text, start);
	if (first === "[" || first === "{") return skipNested(text, start);
	return start + match(/[^\r\n#]*/y, text, start).trimEnd().length;
}

/** Skips a list or an inline table, including strings, comments and line breaks. */
function skipNested(text: string, start: number): number {
	let depth = 0;
	let position = start;
	while (position < text.length) {
		const character = text[position];
		if (character === '"' || character === "'") {
			position = skipString(text, position);
			continue;
		}
		if (character === "#") {
			position = nextLine(text, position);
			continue;
		}
		if (character === "[" || character === "{") depth += 1;
		if (character === "]" || character === "}") depth -= 1;
		position += 1;
		if (depth === 0) break;
	}
	return position;
}

function skipString(text: string, start: number): number {
	const quote = text[start] ?? "";
	const isEscaping = quote === '"';
	const isLong = text.startsWith(quote.repeat(3), start);
	const close = isLong ? quote.repeat(3) : quote;
	let position = start + close.length;
	while (position < text.length && !text.startsWith(close, position)) {
		position += isEscaping && text[position] === "\\" ? 2 : 1;
	}
	position += close.length;
	// Up to two more quotes may precede the closing three.
	for (let extra = 0; isLong && extra < 2 && text[position] === quote; extra += 1) position += 1;
	return position;
}
