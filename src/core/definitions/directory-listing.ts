import path from "node:path";
import type { DirectoryEntry, Files } from "../../ports/files/port.ts";

const rootLimit = 30;
const innerLimit = 10;
const emptyMark = "(empty directory)";
const unreadableMark = "(not readable)";

/** At most 30 entries at the root and 10 per subdirectory, the rest as a count. Never fails. */
export async function listDirectoryTree(files: Files, directory: string): Promise<string> {
	const entries = await readSorted(files, directory);
	if (entries === null) return unreadableMark;
	if (entries.length === 0) return emptyMark;
	const shown = entries.slice(0, rootLimit);
	const inner = await Promise.all(
		shown.map((entry) => (entry.kind === "directory" ? readSorted(files, path.join(directory, entry.name)) : [])),
	);
	const branches = shown.map((entry, index) => toBranch(entry, inner[index] ?? null));
	return draw(branches, entries.length - shown.length).join("\n");
}

interface Branch {
	readonly label: string;
	readonly below: readonly string[];
}

function toBranch(entry: DirectoryEntry, inner: readonly DirectoryEntry[] | null): Branch {
	const label = toLabel(entry);
	if (entry.kind !== "directory") return { label, below: [] };
	if (inner === null) return { label: `${label} ${unreadableMark}`, below: [] };
	const leaves = inner.slice(0, innerLimit).map((leaf) => ({ label: toLabel(leaf), below: [] }));
	return { label, below: draw(leaves, Math.max(0, inner.length - innerLimit)) };
}

function draw(branches: readonly Branch[], more: number): string[] {
	const all = more === 0 ? branches : [...branches, { label: `... and ${more} more`, below: [] }];
	return all.flatMap(({ label, below }, index) => {
		const isLast = index === all.length - 1;
		return [`${isLast ? "└── " : "├── "}${label}`, ...below.map((line) => `${isLast ? "    " : "│   "}${line}`)];
	});
}

/** A line break in a name must not look like another entry. */
function toLabel({ name, kind }: DirectoryEntry): string {
	return name.replace(/[\p{Cc}\u2028\u2029]/gu, "\ufffd") + (kind === "directory" ? "/" : "");
}

async function readSorted(files: Files, directory: string): Promise<DirectoryEntry[] | null> {
	try {
		const entries = await files.list(directory);
		const rank = ({ kind }: DirectoryEntry) => (kind === "directory" ? 0 : 1);
		return entries.sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
	} catch {
		return null;
	}
}
