// TOML 0.4, the oldest dialect that readers support. Saves loading a TOML library on the first start.
import { toWellFormed } from "../../base/text/well-formed.ts";

export type TomlValue = null | boolean | number | string | readonly TomlValue[] | TomlTable;
export type TomlTable = { readonly [key: string]: TomlValue };

function quoted(text: string): string {
	// JSON escapes are valid in TOML, except for the delete character and lone surrogates.
	return JSON.stringify(toWellFormed(text)).replaceAll("\u007f", "\\u007F");
}

export const toTomlKey = (key: string) => (/^[A-Za-z0-9_-]+$/.test(key) ? key : quoted(key));

const isTable = (value: TomlValue): value is TomlTable =>
	typeof value === "object" && value !== null && !Array.isArray(value);
const isTableList = (value: TomlValue): value is readonly TomlTable[] =>
	Array.isArray(value) && value.length > 0 && value.every(isTable);

export function toTomlInline(value: TomlValue): string {
	if (typeof value === "string") return quoted(value);
	if (Array.isArray(value)) return `[${value.map(toTomlInline).join(", ")}]`;
	if (isTable(value)) {
		const pairs = Object.entries(value).filter(([, entry]) => entry !== null);
		return `{ ${pairs.map(([key, entry]) => `${toTomlKey(key)} = ${toTomlInline(entry)}`).join(", ")} }`;
	}
	return String(value);
}

function tableLines(table: TomlTable, path: string): string[] {
	const entries = Object.entries(table).filter(([, value]) => value !== null);
	const scalars = entries.filter(([, value]) => !isTable(value) && !isTableList(value));
	const lines = scalars.map(([key, value]) => `${toTomlKey(key)} = ${toTomlInline(value)}`);
	const under = (key: string) => (path === "" ? toTomlKey(key) : `${path}.${toTomlKey(key)}`);
	for (const [key, value] of entries) {
		if (isTable(value)) {
			const inner = tableLines(value, under(key));
			// A table that contains only tables needs no heading.
			const needsHeading = inner[0] !== "";
			lines.push(...(needsHeading ? ["", `[${under(key)}]`, ...inner] : inner));
		} else if (isTableList(value)) {
			for (const item of value) lines.push("", `[[${under(key)}]]`, ...tableLines(item, under(key)));
		}
	}
	return lines;
}

/** The table as a TOML document. Omits nulls; scalars precede tables. */
export function toTomlText(table: TomlTable): string {
	return `${tableLines(table, "").join("\n")}\n`;
}
