import path from "node:path";
import type { HistoryEntry } from "../../api/values/conversation.ts";
import { errorText } from "../../base/errors.ts";
import { detectFileKind } from "../../core/tools/files/file-kinds.ts";
import { decodeTextFile } from "../../core/tools/files/text-file.ts";
import { absolutePath } from "../../core/tools/workspace-paths.ts";
import type { Files } from "../../ports/files/port.ts";
import { isSensitiveFile } from "../../ports/files/secret-paths.ts";
import { isSessionId } from "../../ports/store/disk/work-dir.ts";
import { conversationMarkdown } from "./conversation-markdown.ts";
import { oneLine } from "./markdown.ts";

/** Maximum import size in bytes. */
const sizeLimit = 10 * 1024 * 1024;
const sizeLimitText = "10 MiB";

/** Prose, data, settings, web, source code, shell and build files. */
const textSuffixes: ReadonlySet<string> = new Set(
	`
	txt text md mdx markdown rst adoc asciidoc org tex bib log
	json jsonl ndjson json5 jsonc yaml yml toml ini cfg conf config properties csv tsv xml xsd xsl svg plist lock
	ipynb
	html htm xhtml css scss sass less js mjs cjs jsx ts mts cts tsx vue svelte astro graphql gql
	py pyi rb php pl pm lua r jl java kt kts scala groovy gradle clj cljs c h cc cpp cxx hh hpp m mm cs fs vb go rs
	swift zig nim d dart ex exs erl hs ml mli el lisp scm sql proto thrift asm s sol v sv
	sh bash zsh fish ps1 bat cmd awk mk cmake tf hcl nix bzl dockerfile diff patch
	`
		.trim()
		.split(/\s+/)
		.map((suffix) => `.${suffix}`),
);

export interface ImportPlace {
	readonly files: Files;
	readonly workDir: string;
	readonly home: string;
	readonly sessionId: string;
	openSession(id: string): Promise<readonly HistoryEntry[] | null>;
}

export type ImportResult =
	| { readonly ok: true; readonly source: string; readonly text: string }
	| { readonly ok: false; readonly reason: string };

const refuse = (reason: string): ImportResult => ({ ok: false, reason });

export async function readImport(source: string, place: ImportPlace): Promise<ImportResult> {
	const named = source.trim();
	if (named === "") return refuse("Name a text file, or the id of another session of this work directory.");
	if (named.includes("\0")) return refuse("A file path must not contain a NUL character.");
	const file = absolutePath(named, place);
	try {
		const status = await place.files.status(file);
		if (status === null) return await readSession(named, file, place);
		if (status.kind === "directory") return refuse(`${file} is a directory. Name a text file in it.`);
		if (status.kind !== "file") return refuse(`${file} is not a file.`);
		return await readTextFile(file, place.files);
	} catch (thrown) {
		return refuse(`${named} cannot be read: ${errorText(thrown)}`);
	}
}

async function readTextFile(file: string, files: Files): Promise<ImportResult> {
	if (isSensitiveFile(file) || isSensitiveFile(await files.resolve(file))) {
		return refuse(`${file} may hold secrets and is not imported, to protect them.`);
	}
	const suffix = path.extname(file).toLowerCase();
	if (suffix !== "" && !textSuffixes.has(suffix)) {
		return refuse(`Files that end in ${suffix} are not imported. Give a text file, or a copy under a name in .txt.`);
	}
	const bytes = await readAtMost(file, sizeLimit, files);
	if (bytes === null) return refuse(`${file} is larger than ${sizeLimitText}. Import a part of it.`);
	const isText = detectFileKind(file, bytes) === "text" && !bytes.includes(0);
	const decoded = isText ? await decodeTextFile(bytes) : null;
	if (decoded === null) return refuse(`${file} is not text in UTF-8.`);
	if (decoded.text.trim() === "") return refuse(`There is nothing in ${file}.`);
	return { ok: true, source: file, text: decoded.text };
}

/** Returns null above the limit. The reported file size may differ from the readable size. */
async function readAtMost(file: string, limit: number, files: Files): Promise<Buffer | null> {
	const pieces: Buffer[] = [];
	let length = 0;
	for await (const piece of files.readPieces(file)) {
		pieces.push(piece);
		length += piece.length;
		if (length > limit) return null;
	}
	return Buffer.concat(pieces);
}

async function readSession(id: string, file: string, place: ImportPlace): Promise<ImportResult> {
	if (id === place.sessionId) return refuse("A session cannot import itself. Name another one.");
	const messages = isSessionId(id) ? await place.openSession(id) : null;
	if (messages === null) {
		return refuse(
			isSessionId(id)
				? `There is neither a file ${file} nor a session ${id} of this work directory.`
				: `There is no file ${file}.`,
		);
	}
	let text = "";
	let size = 0;
	for (const piece of conversationMarkdown(messages)) {
		text += piece;
		size += Buffer.byteLength(piece);
		if (size > sizeLimit) {
			return refuse(`The session ${id} is larger than ${sizeLimitText} as text. Export it, and import a part of that.`);
		}
	}
	if (text === "") return refuse(`Nothing was said in the session ${id}.`);
	return { ok: true, source: `session ${id}`, text };
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** The import as the model sees it. Neither source nor text can close the element early. */
export function importedContext(source: string, text: string): string {
	const attribute = oneLine(source).replace(/[&<>"]/g, (character) => entities[character] ?? character);
	const body = text.replace(/<(?=\s*\/\s*imported_context)/gi, "&lt;");
	return `<imported_context source="${attribute}">\n${body}\n</imported_context>`;
}
