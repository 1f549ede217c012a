// Measures the size and shape of the tree: `npx tsx scripts/measure.ts [DIRECTORY]`.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseSync, Visitor } from "oxc-parser";
import { findImportCircles } from "./import-check.ts";

const root = path.resolve(process.argv[2] ?? ".");
const isTest = (file: string) => file.endsWith(".test.ts");
/** Texts of the documents, which the program never loads. */
const isText = (file: string) => file.endsWith(".texts.ts");

function filesBelow(folder: string): string[] {
	return readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
		.filter((file) => /\.tsx?$/.test(file))
		.map((file) => path.join(folder, file));
}

interface Lines {
	readonly code: number;
	readonly comments: number;
}

/** Lines that hold code, and lines that hold nothing but a comment. */
function countLines(file: string): Lines {
	const text = readFileSync(path.join(root, file), "utf8");
	const { comments } = parseSync(file, text);
	const outside = comments.reduceRight((rest, { start, end }) => {
		return rest.slice(0, start) + rest.slice(start, end).replaceAll(/[^\n]/g, " ") + rest.slice(end);
	}, text);
	const written = text.split("\n");
	const code = outside.split("\n");
	return {
		code: code.filter((line) => line.trim() !== "").length,
		comments: code.filter((line, index) => line.trim() === "" && written[index]?.trim() !== "").length,
	};
}

function sum(files: readonly string[]): Lines {
	return files
		.map(countLines)
		.reduce((one, other) => ({ code: one.code + other.code, comments: one.comments + other.comments }), {
			code: 0,
			comments: 0,
		});
}

function longFunctions(files: readonly string[]): string[] {
	return files.flatMap((file) => {
		const text = readFileSync(path.join(root, file), "utf8");
		const found: string[] = [];
		const look = ({ start, end }: { readonly start: number; readonly end: number }) => {
			const length = text.slice(start, end).split("\n").length;
			if (length > 100) found.push(`${file}:${text.slice(0, start).split("\n").length} (${length})`);
		};
		const visitor = new Visitor({
			FunctionDeclaration: look,
			FunctionExpression: look,
			ArrowFunctionExpression: look,
		});
		visitor.visit(parseSync(file, text).program);
		return found;
	});
}

function crowdedFolders(files: readonly string[]): string[] {
	const counts = new Map<string, number>();
	for (const file of files) counts.set(path.dirname(file), (counts.get(path.dirname(file)) ?? 0) + 1);
	return [...counts].flatMap(([folder, count]) => (count > 20 ? [`${folder} (${count})`] : []));
}

const all = filesBelow("src");
const product = all.filter((file) => !isTest(file) && !isText(file));
const { code, comments } = sum(product);
const long = longFunctions(product);
const crowded = crowdedFolders(product);
const circles = findImportCircles(path.join(root, "src"));
const rows: readonly (readonly [what: string, found: number, aim: string])[] = [
	["code lines of src, without tests and texts", code, "<= 75000"],
	["comment lines there", comments, "<= 7200"],
	["lines of the documents' texts in src", sum(all.filter(isText)).code, ""],
	["lines of code in scripts", sum(filesBelow("scripts")).code, "<= 6000"],
	["lines of code in test, campaigns included", sum(filesBelow("test")).code, "<= 50000"],
	["lines of code in unit tests", sum(all.filter(isTest)).code, "<= 60000"],
	["functions of more than 100 lines", long.length, "<= 10"],
	["folders of more than 20 product files", crowded.length, "0"],
	["import circles, types included", circles.length, "0"],
];
for (const [what, found, aim] of rows)
	console.log(`${what.padEnd(44)} ${String(found).padStart(7)}${aim === "" ? "" : `   aim ${aim}`}`);
for (const each of [...long, ...crowded]) console.log(`  ${each}`);
