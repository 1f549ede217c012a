import path from "node:path";
import { isSensitiveFile } from "../../../ports/files/secret-paths.ts";
import { decidingFile } from "../deciding-files.ts";
import { isWorse } from "../policy.ts";
import { type FileUse, filesOf, flatten } from "../shell/files-used.ts";
import type { FoundFiles, ScriptReading } from "../shell/script.ts";
import { judgeFile } from "./file-judge.ts";
import type { Rule } from "./rule.ts";
import type { JudgePlace, Law, Ruling } from "./ruling.ts";

interface JudgedFile {
	readonly ruling: Ruling | null;
	/** Whether it is below a workspace root and not a sensitive file. */
	readonly isInside: boolean;
	/** False if the file could be any file. */
	readonly isKnown: boolean;
}

export interface UsedFiles {
	of(use: FileUse): JudgedFile;
	readonly rulings: readonly Ruling[];
	readonly hidesFile: boolean;
}

const unknown: JudgedFile = { ruling: null, isInside: false, isKnown: false };
const keyOf = ({ operation, path: named, glob = "", found }: FileUse) =>
	JSON.stringify([operation, named, glob, found ?? null]);

export async function judgeUsedFiles(reading: ScriptReading, { rules, place }: Law): Promise<UsedFiles> {
	const roots = await place.roots();
	const judged = new Map<string, JudgedFile>();
	const directories = new Set([...flatten(reading.commands)].map(({ cwd }) => cwd));
	const uses = [...filesOf(reading)];
	const places = [...directories].flatMap((cwd): readonly FileUse[] =>
		cwd === null ? [] : [{ operation: "read", path: cwd, text: cwd, by: "operand" }],
	);
	const hasOdd = [...flatten(reading.commands)].some(({ words }) =>
		words.some(({ text }) => /^(?:shopt|dotglob|globstar|nocaseglob)$/.test(text)),
	);
	for (const use of [...uses, ...places]) {
		const key = keyOf(use);
		if (judged.has(key)) continue;
		if (use.path !== null) judged.set(key, await judgePath(use.operation, use.path, roots, rules, place));
		else if (use.glob !== undefined && !hasOdd)
			judged.set(key, await judgeGlob(use.operation, use.glob, roots, rules, place));
		else if (use.found !== undefined) judged.set(key, judgeFound(use.found, rules));
	}
	const of = (use: FileUse) => judged.get(keyOf(use)) ?? unknown;
	return {
		of,
		rulings: uses.flatMap((use) => of(use).ruling ?? []),
		hidesFile: uses.some((use) => use.isListed !== true && !of(use).isKnown),
	};
}

async function judgePath(
	operation: FileUse["operation"],
	written: string,
	roots: readonly string[],
	rules: readonly Rule[],
	place: JudgePlace,
): Promise<JudgedFile> {
	const named = path.normalize(written);
	// A path that cannot be resolved, such as one below a file, is judged as written.
	const resolved = await resolveAsSystem(written, place).catch(() => named);
	const isBelow = roots.some((root) => resolved === root || resolved.startsWith(root === "/" ? "/" : `${root}/`));
	const isOpen =
		operation === "read"
			? !isSensitiveFile(resolved) && !isSensitiveFile(named)
			: decidingFile(resolved, roots) === null && decidingFile(named, roots) === null;
	return {
		ruling: judgeFile(operation, [...new Set([resolved, named])], roots, rules),
		isInside: isBelow && isOpen,
		isKnown: true,
	};
}

/** `..` after a symbolic link leads to the parent of the link's target. */
async function resolveAsSystem(written: string, place: JudgePlace): Promise<string> {
	const parts = written.split(/\/\.\.(?=\/|$)/);
	let reached = "/";
	for (const part of parts.slice(0, -1)) {
		reached = path.dirname(await place.resolve(path.join(reached, part)));
	}
	return await place.resolve(path.join(reached, parts.at(-1) ?? ""));
}

/** Maximum matches of a glob pattern; beyond, they count as unknown. */
const mostFiles = 500;

async function judgeGlob(
	operation: FileUse["operation"],
	glob: string,
	roots: readonly string[],
	rules: readonly Rule[],
	place: JudgePlace,
): Promise<JudgedFile> {
	const files = await expand(glob, place);
	if (files === null) return unknown;
	let worst: Ruling | null = null;
	let isOpen = false;
	let isInside = true;
	// A pattern without matches is itself the name.
	for (const file of files.length === 0 ? [glob] : files) {
		const { ruling, isInside: isOne } = await judgePath(operation, file, roots, rules, place);
		isInside &&= isOne;
		if (ruling === null) isOpen = true;
		else if (worst === null || isWorse(ruling.decision, worst.decision)) worst = ruling;
	}
	return { ruling: worst?.decision === "allow" && isOpen ? null : worst, isInside, isKnown: true };
}

async function expand(glob: string, { list }: JudgePlace): Promise<readonly string[] | null> {
	if (list === undefined || glob.includes("**")) return null;
	let found: readonly string[] = [""];
	for (const segment of glob.split("/").slice(1)) {
		if (!/[*?[]/.test(segment)) {
			found = found.map((directory) => `${directory}/${segment}`);
			continue;
		}
		const matches = segmentPattern(segment);
		if (matches === null) return null;
		const next: string[] = [];
		for (const directory of found) {
			const names = await list(directory === "" ? "/" : directory).catch(() => []);
			for (const name of names) if (matches.test(name)) next.push(`${directory}/${name}`);
			if (next.length > mostFiles) return null;
		}
		found = next;
	}
	return found;
}

/** A dotfile name only matches a pattern that starts with a dot. */
function segmentPattern(segment: string, isShell = true): RegExp | null {
	const source = segment.replaceAll(/\[[!^]?\]?[^\]]*\]|[\s\S]/g, (piece) => {
		if (piece === "*") return ".*";
		if (piece === "?") return ".";
		if (piece.length > 1) return piece.replace(/^\[!/, "[^").replaceAll("\\", "\\\\");
		return piece.replace(/[\\^$.|+()[\]{}]/, "\\$&");
	});
	try {
		return new RegExp(`^${!isShell || /^[.[]/.test(segment) ? "" : "(?!\\.)"}${source}$`, "su");
	} catch {
		return null;
	}
}

const secretNames = [
	".env",
	".env.local",
	"id_rsa",
	"id_ed25519",
	".netrc",
	".npmrc",
	"credentials",
	"credentials.json",
	"key.pem",
];

/** Files passed on by `find`: they match a name pattern, in any directory. */
function judgeFound({ name, isNear }: FoundFiles, rules: readonly Rule[]): JudgedFile {
	const pattern = segmentPattern(name, false);
	const isFree = rules.every((rule) => {
		if (rule.decision === "allow" || rule.pattern.kind !== "file") return true;
		const last = rule.pattern.path?.steps.at(-1);
		return last?.kind === "name" && pattern !== null && !pattern.test(last.name);
	});
	const hasSecrets = pattern === null || secretNames.some((secret) => pattern.test(secret));
	return { ruling: null, isInside: isNear && !hasSecrets, isKnown: isFree };
}
