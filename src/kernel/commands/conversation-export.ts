import path from "node:path";
import type { HistoryEntry } from "../../api/values/conversation.ts";
import { errorText } from "../../base/errors.ts";
import { createPace } from "../../base/pace.ts";
import { beginning } from "../../base/text/well-formed.ts";
import { absolutePath } from "../../core/tools/workspace-paths.ts";
import type { Files } from "../../ports/files/port.ts";
import { conversationMarkdown } from "./conversation-markdown.ts";
import { codeSpan, oneLine } from "./markdown.ts";

/** First line of every export, which identifies it later. Invisible to readers. */
const mark = "<!-- A conversation, exported by agentwire -->";

export interface ExportedConversation {
	readonly sessionId: string;
	readonly title: string | null;
	readonly workDir: string;
	/** Milliseconds since the epoch. */
	readonly now: number;
	readonly tokenCount: number;
	readonly modelName: string | null;
	readonly messages: readonly HistoryEntry[];
}

/** Generates the export in pieces, because a context may be very large. */
export function* toMarkdown(conversation: ExportedConversation): Generator<string> {
	const { sessionId, title, workDir, now, tokenCount, modelName, messages } = conversation;
	const facts: readonly (readonly [string, string | null])[] = [
		["Session", codeSpan(sessionId)],
		["Work directory", codeSpan(workDir)],
		["Exported", new Date(now).toISOString()],
		["Model", modelName === null ? null : codeSpan(modelName)],
		["Messages", String(messages.length)],
		["Tokens in the context", String(tokenCount)],
	];
	const heading = [
		mark,
		`# ${oneLine(title ?? "") || "Conversation"}`,
		facts.flatMap(([name, value]) => (value === null ? [] : `- ${name}: ${value}`)).join("\n"),
	];
	yield `${heading.join("\n\n")}\n\n`;
	let isEmpty = true;
	for (const piece of conversationMarkdown(messages)) {
		isEmpty = false;
		yield piece;
	}
	yield isEmpty ? "*Nothing has been said yet.*\n" : "\n";
}

export interface ExportPlace {
	readonly files: Files;
	readonly workDir: string;
	readonly home: string;
	readonly now: number;
	readonly sessionId: string;
}

export type ExportResult =
	| { readonly ok: true; readonly path: string }
	| { readonly ok: false; readonly reason: string };

/** Overwrites only earlier exports. The default is a new file in the working directory. */
export async function exportConversation(
	target: string,
	place: ExportPlace,
	markdown: Iterable<string>,
): Promise<ExportResult> {
	const refuse = (reason: string): ExportResult => ({ ok: false, reason });
	if (target.includes("\0")) return refuse("A file path must not contain a NUL character.");
	const named = absolutePath(target.trim() === "" ? "." : target.trim(), place);
	try {
		const { files } = place;
		const isDirectory = (await files.status(named))?.kind === "directory";
		if (!isDirectory && target.trim().endsWith("/")) return refuse(`There is no directory ${named}.`);
		const file = isDirectory ? path.join(named, exportName(place)) : named;
		const parent = path.dirname(file);
		if ((await files.status(parent))?.kind !== "directory") return refuse(`There is no directory ${parent}.`);
		const leadsTo = await files.resolve(file);
		const isLink = leadsTo !== path.join(await files.resolve(parent), path.basename(file));
		if (isLink && (await files.status(file)) === null) {
			return refuse(
				`${file} is a link to ${leadsTo}, which does not exist. Give another name, or remove the link first.`,
			);
		}
		if (!(await mayBeWritten(file, files))) {
			return refuse(`${file} is there already and is no export. Give another name, or remove it first.`);
		}
		await files.replaceByPieces(leadsTo, pacedBytes(markdown), { withoutLinks: true });
		return { ok: true, path: isLink ? leadsTo : file };
	} catch (thrown) {
		return refuse(`The export could not be written to ${named}: ${errorText(thrown)}`);
	}
}

/** Characters per write. */
const writtenLength = 64 * 1024;

async function* pacedBytes(pieces: Iterable<string>): AsyncGenerator<Uint8Array> {
	const pace = createPace();
	let text = "";
	for (const piece of pieces) {
		text += piece;
		if (text.length >= writtenLength) {
			yield Buffer.from(text);
			text = "";
		}
		await pace.rest();
	}
	yield Buffer.from(text);
}

async function mayBeWritten(file: string, files: Files): Promise<boolean> {
	const status = await files.status(file);
	if (status === null) return true;
	if (status.kind !== "file") return false;
	const start = await files.readRange(file, 0, mark.length);
	return start?.toString("latin1") === mark;
}

/** In local time, for readers. */
function exportName({ sessionId, now }: ExportPlace): string {
	const time = new Date(now);
	const two = (value: number): string => String(value).padStart(2, "0");
	const day = `${time.getFullYear()}${two(time.getMonth() + 1)}${two(time.getDate())}`;
	const moment = `${two(time.getHours())}${two(time.getMinutes())}${two(time.getSeconds())}`;
	return `kimi-export-${beginning(sessionId, 8)}-${day}-${moment}.md`;
}
