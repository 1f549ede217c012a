// Finds the words of words.ts in comments, identifiers, file names and documents.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "oxc-parser";
import {
	type AvoidedWord,
	avoidedNames,
	avoidedParts,
	avoidedPhrases,
	legitimateUses,
	type WordPlace,
} from "./words.ts";

export interface WordFinding {
	readonly file: string;
	readonly line: number;
	readonly place: WordPlace;
	readonly text: string;
	readonly say: string;
}

/** Every avoided word in one file; `file` is relative to the root and ends in `.ts` or `.md`. */
export function findAvoidedWords(file: string, text: string): WordFinding[] {
	const findings = file.endsWith(".ts") ? findInCode(file, text) : findInDocument(file, text);
	return [...findInFileName(file), ...findings].filter(
		(finding) =>
			!legitimateUses.some(
				(use) =>
					(use.where.endsWith("/") ? file.startsWith(use.where) : file === use.where) &&
					finding.place === use.place &&
					(use.text === null || finding.text === use.text),
			),
	);
}

function findInFileName(file: string): WordFinding[] {
	const parts = path.basename(file).split(/[^A-Za-z]/);
	return avoidedParts.flatMap(({ avoid, say }) =>
		parts.filter((part) => avoid.test(part)).map((part) => ({ file, line: 1, place: "name", text: part, say })),
	);
}

function findInCode(file: string, text: string): WordFinding[] {
	const { program, comments } = parseSync(file, text);
	const findings = comments.flatMap(({ value, start }) => findPhrases(file, value, lineAt(text, start)));
	const seen = new Set<string>();
	const visit = (node: unknown): void => {
		if (Array.isArray(node)) {
			for (const child of node) visit(child);
			return;
		}
		if (typeof node !== "object" || node === null) return;
		if ("type" in node && (node.type === "Identifier" || node.type === "PrivateIdentifier")) {
			if ("name" in node && typeof node.name === "string" && "start" in node && typeof node.start === "number") {
				const { name, start } = node;
				const avoided = seen.has(name) ? null : findName(name);
				seen.add(name);
				if (avoided !== null)
					findings.push({ file, line: lineAt(text, start), place: "name", text: name, say: avoided.say });
			}
		}
		for (const child of Object.values(node)) visit(child);
	};
	visit(program);
	return findings;
}

/** Names with underscores belong to protocols and files, and are not ours to choose. */
function findName(name: string): AvoidedWord | null {
	if (name.includes("_")) return null;
	const whole = avoidedNames.find(({ avoid }) => avoid.test(name));
	if (whole !== undefined) return whole;
	const parts = name.split(/(?=[A-Z])/);
	return avoidedParts.find(({ avoid }) => parts.some((part) => avoid.test(part))) ?? null;
}

/** Searches the prose alone: blocks of code and text in backquotes are literals. */
function findInDocument(file: string, text: string): WordFinding[] {
	let isCode = false;
	return text.split("\n").flatMap((line, index) => {
		if (/^\s*```/.test(line)) {
			isCode = !isCode;
			return [];
		}
		return isCode ? [] : findPhrases(file, line.replace(/`[^`]*`/g, "``"), index + 1);
	});
}

function findPhrases(file: string, text: string, firstLine: number): WordFinding[] {
	const prose = text.replace(/`[^`\n]*`/g, "``");
	return avoidedPhrases.flatMap(({ avoid, say }) =>
		[...prose.matchAll(avoid)].map((match) => ({
			file,
			line: firstLine + lineAt(prose, match.index) - 1,
			place: "prose",
			text: match[0],
			say,
		})),
	);
}

function lineAt(text: string, position: number): number {
	let line = 1;
	for (let at = text.indexOf("\n"); at !== -1 && at < position; at = text.indexOf("\n", at + 1)) line += 1;
	return line;
}

/** The files of the repository whose words are checked. */
export function wordedFiles(root: string): string[] {
	return execFileSync("git", ["ls-files", "*.ts", "*.md"], { cwd: root, encoding: "utf8" })
		.split("\n")
		.filter((file) => file !== "" && !file.startsWith("test/fixtures/"));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	const root = fileURLToPath(new URL("..", import.meta.url));
	const prefixes = process.argv.slice(2);
	const findings = wordedFiles(root)
		.filter((file) => prefixes.length === 0 || prefixes.some((prefix) => file.startsWith(prefix)))
		.flatMap((file) => findAvoidedWords(file, readFileSync(path.join(root, file), "utf8")));
	for (const { file, line, text, say } of findings) console.log(`${file}:${line}: "${text}": say ${say}`);
	console.log(`${findings.length} avoided words`);
	process.exitCode = findings.length === 0 ? 0 : 1;
}
