// Writes what is derived from the code: the import table in docs/architecture.md and the event table in
// docs/events.md. With --check it writes nothing and fails when a file is stale.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { eventDeclarations } from "../src/events/event.ts";
import { messageDeclarations } from "../src/messages/message.ts";
import { importTable } from "./imports.ts";

const path = (file: string) => fileURLToPath(new URL(`../${file}`, import.meta.url));

/** Puts the text between the two marker lines of a document. */
function between(document: string, name: string, text: string): string {
	const start = `<!-- generated: ${name} -->`;
	const end = "<!-- end generated -->";
	const from = document.indexOf(start);
	const to = document.indexOf(end, from);
	if (from === -1 || to === -1) throw new Error(`The markers of "${name}" are missing.`);
	return `${document.slice(0, from + start.length)}\n${text}\n${document.slice(to)}`;
}

function importRows(): string {
	const rows = importTable.map(({ folder, floor, owns, mayImport, types }) => {
		const listed = mayImport === "anything" ? "anything" : mayImport.join(", ") || "–";
		const onlyTypes = types === undefined ? "" : `; types of ${types.join(", ")}`;
		return `| ${floor} | \`${folder}/\` | ${owns} | ${listed}${onlyTypes} |`;
	});
	return ["", "| Floor | Folder | Owns | May import |", "| --- | --- | --- | --- |", ...rows, ""].join("\n");
}

function eventRows(): string {
	const rows = Object.entries(eventDeclarations).map(
		([type, { class: eventClass, doc }]) => `| \`${type}\` | ${eventClass} | ${doc} |`,
	);
	return ["", "| Event | Class | Meaning |", "| --- | --- | --- |", ...rows, ""].join("\n");
}

function messageRows(): string {
	const rows = Object.entries(messageDeclarations).map(
		([type, { kind, since }]) => `| \`${type}\` | ${kind} | ${since ?? "undocumented"} |`,
	);
	return ["", "| Message | Kind | Since |", "| --- | --- | --- |", ...rows, ""].join("\n");
}

const documents: readonly { readonly file: string; readonly parts: Readonly<Record<string, string>> }[] = [
	{ file: "docs/architecture.md", parts: { imports: importRows() } },
	{ file: "docs/events.md", parts: { events: eventRows(), messages: messageRows() } },
];

const onlyCheck = process.argv.includes("--check");
let stale = 0;
for (const { file, parts } of documents) {
	const current = readFileSync(path(file), "utf8");
	const wanted = Object.entries(parts).reduce((text, [name, part]) => between(text, name, part), current);
	if (wanted === current) continue;
	stale += 1;
	if (onlyCheck) console.log(`${file} is stale; run: npm run generate`);
	else writeFileSync(path(file), wanted);
}
process.exitCode = onlyCheck && stale > 0 ? 1 : 0;
