// Everything else stays byte for byte. Unsupported forms stay or become invalid, so the caller must parse the result.
import { scanToml, type TomlStatement } from "./toml-scan.ts";
import { type TomlValue, toTomlInline, toTomlKey } from "./toml-text.ts";

const isAt = (path: readonly string[], { path: found }: TomlStatement) =>
	found.length === path.length && isBelow(path, found);
const isBelow = (path: readonly string[], found: readonly string[]) => path.every((key, index) => found[index] === key);

export function removeTomlKey(text: string, path: readonly string[]): string {
	return scanToml(text)
		.filter((statement) => isBelow(path, statement.path))
		.reduceRight((left, { kind, start, end }) => {
			// The blank line above a heading belongs to the heading.
			const above = kind === "pair" ? "" : (/(?<=\n)\r?\n$/.exec(left.slice(0, start))?.[0] ?? "");
			return left.slice(0, start - above.length) + left.slice(end);
		}, text);
}

/** In place if it exists, otherwise at the end of its table, which is appended if missing. */
export function setTomlKey(text: string, path: readonly string[], value: TomlValue): string {
	const statement = scanToml(text).find((found) => found.kind === "pair" && isAt(path, found));
	if (statement !== undefined) {
		return text.slice(0, statement.valueStart) + toTomlInline(value) + text.slice(statement.valueEnd);
	}
	// Tables below the key or an empty inline table would conflict with the new line.
	return insert(withoutEmptyTables(removeTomlKey(text, path), path), path, value);
}

function withoutEmptyTables(text: string, path: readonly string[]): string {
	return scanToml(text).reduceRight((left, { kind, path: found, start, end, valueStart, valueEnd }) => {
		const isAbove = found.length < path.length && isBelow(found, path);
		const isEmpty = kind === "pair" && /^\{\s*\}$/.test(text.slice(valueStart, valueEnd));
		return isAbove && isEmpty ? left.slice(0, start) + left.slice(end) : left;
	}, text);
}

function insert(text: string, path: readonly string[], value: TomlValue): string {
	const newline = text.includes("\r\n") ? "\r\n" : "\n";
	const table = path.slice(0, -1);
	const line = `${toTomlKey(path.at(-1) ?? "")} = ${toTomlInline(value)}${newline}`;
	const statements = scanToml(text);
	const heading = statements.findIndex((found) => found.kind === "table" && isAt(table, found));
	if (heading === -1 && table.length > 0) {
		const above = text === "" ? "" : text.endsWith("\n") ? newline : newline.repeat(2);
		return `${text}${above}[${table.map(toTomlKey).join(".")}]${newline}${line}`;
	}
	const next = statements.findIndex(({ kind }, index) => index > heading && kind !== "pair");
	const last = statements[(next === -1 ? statements.length : next) - 1];
	const position = last?.end ?? (text.startsWith("\ufeff") ? 1 : 0);
	const before = text.slice(0, position);
	const after = text.slice(position);
	const isOpen = before !== "" && before !== "\ufeff" && !before.endsWith("\n");
	// At the top, on its own line.
	const below = last === undefined && after !== "" && !/^\r?\n/.test(after) ? newline : "";
	return `${before}${isOpen ? newline : ""}${line}${below}${after}`;
}
