// Holds the source tree against the import table: every import between folders must be in its folder's row.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { type FolderRule, importTable } from "./imports.ts";

export interface ImportViolation {
	readonly file: string;
	readonly imported: string;
	readonly reason: string;
}

const statement =
	/^\s*(?:import|export)\s+(type\s+)?[^"';]*?from\s+"([^"]+)"|import\(\s*"([^"]+)"\s*\)|^\s*import\s+"([^"]+)"/gm;

/** Every import below `sourceRoot` that the table does not allow. Paths in the result are relative to it. */
export function findImportViolations(sourceRoot: string): ImportViolation[] {
	return sourceFiles(sourceRoot).flatMap((file) => checkFile(sourceRoot, file));
}

/** Tests may make what they test with real parts from anywhere; the table is about the product. */
function sourceFiles(sourceRoot: string): string[] {
	return readdirSync(sourceRoot, { recursive: true, encoding: "utf8" }).filter(
		(file) => file.endsWith(".ts") && !file.endsWith(".test.ts"),
	);
}

function checkFile(sourceRoot: string, file: string): ImportViolation[] {
	const rule = ruleOf(file);
	if (rule === undefined) {
		return [{ file, imported: "", reason: `the folder ${path.dirname(file)} is not in the import table` }];
	}
	const violations: ImportViolation[] = [];
	const text = readFileSync(path.join(sourceRoot, file), "utf8");
	for (const [, typeOnly, from, dynamic, bare] of text.matchAll(statement)) {
		const target = from ?? dynamic ?? bare ?? "";
		if (!target.startsWith(".")) continue;
		const resolved = path.relative(sourceRoot, path.resolve(sourceRoot, path.dirname(file), target));
		if (resolved.startsWith("..")) continue;
		const targetFolder = ruleOf(resolved)?.folder ?? path.dirname(resolved);
		const reason =
			reasonAgainst(rule, targetFolder, typeOnly !== undefined) ??
			roomReason(rule, file, resolved, typeOnly !== undefined) ??
			frontEndReason(file, resolved) ??
			(path.basename(resolved) === "index.ts" && resolved !== "index.ts" ? "only the library has an index file" : null);
		if (reason !== null) violations.push({ file, imported: resolved, reason });
	}
	return violations;
}

/** The row of the folder that a file lies in. */
function ruleOf(file: string): FolderRule | undefined {
	return importTable.find(({ folder }) =>
		folder === "" ? !file.includes(path.sep) : file.startsWith(folder + path.sep),
	);
}

function reasonAgainst(rule: FolderRule, target: string, typeOnly: boolean): string | null {
	if (rule.mayImport === "anything" || target === rule.folder || target === "base") return null;
	if (rule.mayImport.includes(target)) return null;
	if (rule.types?.includes(target)) return typeOnly ? null : `${rule.folder} may import only types from ${target}`;
	return `${rule.folder} may not import ${target}`;
}

/** A room takes values of the rooms that its row names; types of any. */
function roomReason({ folder, rooms }: FolderRule, file: string, target: string, typeOnly: boolean): string | null {
	if (rooms === undefined || !target.startsWith(folder + path.sep) || typeOnly) return null;
	const [targetRoom, targetInner] = path.relative(folder, target).split(path.sep);
	if (targetInner === undefined) return null;
	const [room = "", inner] = path.relative(folder, file).split(path.sep);
	if (inner === undefined || room === targetRoom) return null;
	const allowed = rooms[room];
	if (allowed === undefined) return `the room ${folder}/${room} is not in the import table`;
	return allowed.includes(targetRoom ?? "")
		? null
		: `${folder}/${room} may import only types from ${folder}/${targetRoom}`;
}

const frontEnds = ["frontends", path.join("cli", "print")].map((folder) => folder + path.sep);

/** Front ends know the interfaces of the kernel, never its classes: an implementation may live in another process. */
function frontEndReason(file: string, target: string): string | null {
	const isFrontEnd = frontEnds.some((folder) => file.startsWith(folder));
	return isFrontEnd && target.startsWith(`kernel${path.sep}`)
		? "front ends know the kernel by api/kernel.ts alone"
		: null;
}

/** Of one folder; the aim is about 20. */
const mostFiles = 24;

/** Folders with more files than a reader can take in, tests not counted. */
export function findCrowdedFolders(sourceRoot: string): { readonly folder: string; readonly files: number }[] {
	const counts = new Map<string, number>();
	for (const file of sourceFiles(sourceRoot)) {
		const folder = path.dirname(file);
		counts.set(folder, (counts.get(folder) ?? 0) + 1);
	}
	return [...counts].flatMap(([folder, files]) => (files > mostFiles ? [{ folder, files }] : []));
}

/** Files that import each other in a circle, imports of types included; dynamic imports are not followed. One entry per circle. */
export function findImportCircles(sourceRoot: string): string[][] {
	const files = sourceFiles(sourceRoot);
	const imported = new Map(files.map((file) => [file, staticImports(sourceRoot, file)]));
	const circles: string[][] = [];
	const finished = new Set<string>();
	const visit = (file: string, path: readonly string[]): void => {
		const start = path.indexOf(file);
		if (start !== -1) return void circles.push(path.slice(start));
		if (finished.has(file)) return;
		for (const next of imported.get(file) ?? []) visit(next, [...path, file]);
		finished.add(file);
	};
	for (const file of files) visit(file, []);
	return circles;
}

function staticImports(sourceRoot: string, file: string): string[] {
	const text = readFileSync(path.join(sourceRoot, file), "utf8");
	return [...text.matchAll(statement)].flatMap(([, , from]) =>
		from?.startsWith(".") ? [path.relative(sourceRoot, path.resolve(sourceRoot, path.dirname(file), from))] : [],
	);
}
