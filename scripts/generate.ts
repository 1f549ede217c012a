// Writes what is derived from the code: the import table in docs/explanation/architecture.md, the event table in docs/reference/events.md,
// the operations in docs/reference/stability.md, the differences in docs/guides/meerkat.md, and the document and the JSON Schema of each dialect. With --check it writes nothing and fails when a file is stale.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { operationTexts } from "../src/api/operations.texts.ts";
import { operations } from "../src/api/operations.ts";
import { eventDeclarations } from "../src/api/values/event.ts";
import { ownMethodTexts } from "../src/frontends/gateway/protocol.texts.ts";
import { ownMethods } from "../src/frontends/gateway/protocol.ts";
import { toRows } from "../test/support/meerkat/recorded/reasons.ts";
import { importTable } from "./imports.ts";
import { claude } from "./protocol/claude.ts";
import { toClientTypes } from "./protocol/client-types.ts";
import { descriptions } from "./protocol/descriptions.ts";
import { toGatewayDocument, toOpenApi } from "./protocol/gateway.ts";
import { toProtocolSchema } from "./protocol/json-schema.ts";
import { toMarkdown } from "./protocol/markdown.ts";

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
		return `| ${floor} | \`${folder === "" ? "index.ts" : `${folder}/`}\` | ${owns} | ${listed}${onlyTypes} |`;
	});
	return ["", "| Floor | Folder | Owns | May import |", "| --- | --- | --- | --- |", ...rows, ""].join("\n");
}

function eventRows(): string {
	const rows = Object.entries(eventDeclarations).map(
		([type, { class: eventClass, doc }]) => `| \`${type}\` | ${eventClass} | ${doc} |`,
	);
	return ["", "| Event | Class | Meaning |", "| --- | --- | --- |", ...rows, ""].join("\n");
}

function operationRows(): string {
	const texts: Readonly<Record<string, string>> = { ...operationTexts, ...ownMethodTexts };
	const rows = Object.entries({ ...operations, ...ownMethods }).map(([name, { kind, stability }]) => {
		const [sentence = ""] = /^.*?\.(?= |$)/.exec(texts[name] ?? "") ?? [];
		const place = name === "session.attach" ? "streams" : name.replaceAll(".", "");
		return `| [\`${name}\`](protocol/gateway.md#${place}) | ${kind} | ${stability} | ${sentence} |`;
	});
	return ["", "| Operation | Kind | Status | Does |", "| --- | --- | --- | --- |", ...rows, ""].join("\n");
}

/** How the recorded conversations of Meerkat RPC differ, as the test that plays them found. */
function differenceRows(): string {
	const listed = readFileSync(path("test/fixtures/meerkat-0.9-differences.json"), "utf8");
	return toRows(Object.keys(JSON.parse(listed)));
}

/** Parts of documents that are written by hand otherwise. */
const documents: readonly { readonly file: string; readonly parts: Readonly<Record<string, string>> }[] = [
	{ file: "docs/explanation/architecture.md", parts: { imports: importRows() } },
	{ file: "docs/reference/events.md", parts: { events: eventRows() } },
	{ file: "docs/reference/stability.md", parts: { operations: operationRows() } },
	{ file: "docs/guides/meerkat.md", parts: { differences: differenceRows() } },
];

const openApi = toOpenApi();

/** What each file is to hold. */
const wanted: readonly (readonly [file: string, text: string])[] = [
	...documents.map(({ file, parts }) => {
		const current = readFileSync(path(file), "utf8");
		return [file, Object.entries(parts).reduce((text, [name, part]) => between(text, name, part), current)] as const;
	}),
	...descriptions.flatMap(
		(description) =>
			[
				[`docs/reference/protocol/${description.name}.md`, toMarkdown(description)],
				[`schema/${description.name}.json`, `${JSON.stringify(toProtocolSchema(description), null, "\t")}\n`],
			] as const,
	),
	["docs/reference/protocol/claude.md", toMarkdown(claude)],
	["docs/reference/protocol/gateway.md", toGatewayDocument()],
	["schema/gateway.json", `${JSON.stringify(openApi, null, "\t")}\n`],
	["src/client/protocol-types.ts", toClientTypes(openApi.components.schemas)],
];

const onlyCheck = process.argv.includes("--check");
const stale = wanted.filter(([file, text]) => !existsSync(path(file)) || readFileSync(path(file), "utf8") !== text);
for (const [file, text] of stale) {
	if (onlyCheck) console.log(`${file} is stale; run: npm run generate`);
	else {
		mkdirSync(dirname(path(file)), { recursive: true });
		writeFileSync(path(file), text);
	}
}
process.exitCode = onlyCheck && stale.length > 0 ? 1 : 0;
