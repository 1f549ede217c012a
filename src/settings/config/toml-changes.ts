import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../base/json.ts";
import { parseToml } from "./syntax.ts";
import { removeTomlKey, setTomlKey } from "./toml-edits.ts";
import type { TomlTable, TomlValue } from "./toml-text.ts";

type Content = Readonly<Record<string, unknown>>;

export interface TomlChange {
	readonly path: readonly string[];
	readonly value: TomlValue;
}

export interface TomlDocument {
	readonly text: string;
	readonly data: Content;
}

/** Verifies that nothing else changed. Null if the changes cannot be made in place, as in an inline table. */
export async function applyTomlChanges(
	{ text, data }: TomlDocument,
	changes: readonly TomlChange[],
): Promise<TomlDocument | null> {
	let edited = text;
	let expected: unknown = data;
	for (const { path, value } of changes) {
		// An equal value keeps its spelling.
		if (isDeepStrictEqual(plain(valueAt(expected, path)), value)) continue;
		edited = value === null ? removeTomlKey(edited, path) : setTomlKey(edited, path, value);
		expected = withValue(expected, path, value);
	}
	const result = await parseToml(edited.replace(/^\ufeff/, ""));
	if (!result.ok || !isDeepStrictEqual(plain(result.value), plain(expected))) return null;
	return { text: edited, data: isRecord(result.value) ? result.value : {} };
}

/** Returns the changes between two documents; null if a new value cannot be serialized, such as a time. */
export function findTomlChanges(
	before: Content,
	after: Content,
	above: readonly string[] = [],
): readonly TomlChange[] | null {
	const changes: TomlChange[] = [];
	for (const key of Object.keys(before)) {
		if (!Object.hasOwn(after, key)) changes.push({ path: [...above, key], value: null });
	}
	for (const [key, value] of Object.entries(after)) {
		const path = [...above, key];
		const old = Object.hasOwn(before, key) ? before[key] : undefined;
		if (isDeepStrictEqual(plain(old), plain(value))) continue;
		const own = isTable(value) && isTable(old) ? findTomlChanges(old, value, path) : toChanges(path, value);
		if (own === null) return null;
		changes.push(...own);
	}
	return changes;
}

function toChanges(path: readonly string[], value: unknown): readonly TomlChange[] | null {
	if (isTable(value)) return findTomlChanges({}, value, path);
	return isTomlValue(value) ? [{ path, value }] : null;
}

/** Times are objects too. */
const isTable = (value: unknown): value is Content => isRecord(value) && !(value instanceof Date);

/** Whether the value can be serialized: a parsed time cannot. */
function isTomlValue(value: unknown): value is TomlValue {
	if (Array.isArray(value)) return value.every(isTomlValue);
	if (typeof value === "object" && value !== null) return isTomlTable(value);
	return ["boolean", "number", "string"].includes(typeof value);
}

export function isTomlTable(value: unknown): value is TomlTable {
	return isTable(value) && Object.values(value).every(isTomlValue);
}

function valueAt(data: unknown, path: readonly string[]): unknown {
	return path.reduce((inner, key) => (isRecord(inner) ? inner[key] : undefined), data);
}

function withValue(data: unknown, [key, ...rest]: readonly string[], value: TomlValue): unknown {
	if (key === undefined) return value;
	const table = isRecord(data) ? data : {};
	const { [key]: old, ...others } = table;
	const changed = withValue(old, rest, value);
	return changed === null || (value === null && old === undefined) ? others : { ...others, [key]: changed };
}

/** Drops what readers cannot see: empty tables and prototypes. */
function plain(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(plain);
	if (!isTable(value)) return value;
	const entries = Object.entries(value).map(([key, inner]) => [key, plain(inner)] as const);
	return Object.fromEntries(entries.filter(([, inner]) => !isTable(inner) || Object.keys(inner).length > 0));
}
