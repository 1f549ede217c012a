import * as v from "valibot";
import { type ToolReturn, toolError, toolSuccess } from "../../../api/values/content.ts";
import { never } from "../../../base/abort.ts";
import { beginning } from "../../../base/text/well-formed.ts";
import { integer } from "../argument-schemas.ts";
import type { Tool, ToolEnvironment } from "../tool.ts";
import { cancelledResult, defineTool, freeUnlessRuled, settled } from "../tool-definition.ts";
import { fileSubject, shownPath } from "../workspace-paths.ts";
import { guessOfSample, markedEncoding, sampleLength, sampleStart } from "./encoding-guess.ts";
import { createDecoder, type Decoder } from "./encodings.ts";
import { type FoundFile, findReadableFile } from "./readable-file.ts";
import { encodingNote, unknownEncodingNote } from "./text-file.ts";
import { forEachLine, type TextLine } from "./text-lines.ts";
import { readEditorText, readUnsavedText } from "./workspace-content.ts";

const maximumLines = 1000;
const maximumLineLength = 2000;
const maximumBytes = 100 * 1024;
const cutMarker = "...";

const description = `Read lines of a text file.

- Each line is shown with its number and a TAB in front; neither is part of the file.
- One call shows at most ${maximumLines} lines and ${maximumBytes / 1024} KiB; of a line, at most ${maximumLineLength} characters. Read on with \`line_offset\`.
- A negative \`line_offset\` reads from the end: -50 starts 50 lines before it.
- A path outside of the working directory must be absolute.
- Files that hold secrets, and files that are not text, are refused. For directories use Shell or Glob, for searching use Grep.
- Several files can be read with several calls at once.`;

const schema = v.object({
	path: v.pipe(v.string(), v.description("The file to read; relative to the working directory or absolute.")),
	line_offset: v.optional(
		v.pipe(
			integer(),
			v.minValue(-maximumLines),
			v.notValue(0),
			v.description(`The first line to show, counted from 1; negative counts from the end, at least -${maximumLines}.`),
		),
		1,
	),
	n_lines: v.optional(
		v.pipe(
			integer(),
			v.minValue(1),
			v.description(`How many lines to show; never more than ${maximumLines} in one call.`),
		),
		maximumLines,
	),
});

interface ShownLine {
	readonly number: number;
	readonly text: string;
	readonly isCut: boolean;
	/** Includes the newline, if any. */
	readonly bytes: number;
	readonly isEnded: boolean;
}

interface Reading {
	readonly lines: readonly ShownLine[];
	readonly totalLines: number;
	readonly stoppedBy: "lines" | "bytes" | null;
}

function toShown({ text: line, isCut, isEnded }: TextLine, number: number): ShownLine {
	const text = isCut ? beginning(line, maximumLineLength - cutMarker.length) + cutMarker : line;
	return { number, text, isCut, bytes: Buffer.byteLength(text) + (isEnded ? 1 : 0), isEnded };
}

/** Collects the first lines from `offset` within the limits; the line that crosses the byte limit is the last. */
function collectForward(offset: number, count: number) {
	const lines: ShownLine[] = [];
	let bytes = 0;
	return {
		take(line: ShownLine): void {
			if (line.number < offset || lines.length >= count || bytes >= maximumBytes) return;
			lines.push(line);
			bytes += line.bytes;
		},
		finish(totalLines: number): Reading {
			const isAtEnd = lines.length === 0 || lines.at(-1)?.number === totalLines;
			const stoppedBy = isAtEnd
				? null
				: bytes >= maximumBytes
					? "bytes"
					: lines.length >= maximumLines
						? "lines"
						: null;
			return { lines, totalLines, stoppedBy };
		},
	};
}

/** Collects the first `count` of the last `span` lines, and drops leading lines that exceed the limits. */
function collectTail(span: number, count: number) {
	let last: ShownLine[] = [];
	return {
		take(line: ShownLine): void {
			last.push(line);
			if (last.length >= 2 * span) last = last.slice(-span);
		},
		finish(totalLines: number): Reading {
			const lines = last.slice(-span).slice(0, count);
			let bytes = lines.reduce((sum, line) => sum + line.bytes, 0);
			let dropped = 0;
			for (const line of lines.slice(0, -1)) {
				if (bytes <= maximumBytes) break;
				bytes -= line.bytes;
				dropped += 1;
			}
			return { lines: lines.slice(dropped), totalLines, stoppedBy: dropped > 0 ? "bytes" : null };
		},
	};
}

function toResult({ lines, totalLines, stoppedBy }: Reading, note: string): ToolReturn {
	const first = lines[0];
	const message = [
		first === undefined
			? "No lines read from file."
			: `${lines.length} lines read from file starting from line ${first.number}.`,
		`Total lines in file: ${totalLines}.`,
	];
	if (stoppedBy === "lines") message.push(`Max ${maximumLines} lines reached.`);
	else if (stoppedBy === "bytes") message.push(`Max ${maximumBytes} bytes reached.`);
	if (first === undefined || lines.at(-1)?.number === totalLines) message.push("End of file reached.");
	const cut = lines.filter((line) => line.isCut).map((line) => line.number);
	if (cut.length > 0) message.push(`Lines too long to be shown whole: ${cut.join(", ")}.`);
	if (note !== "") message.push(note);
	const output = lines
		.map(({ number, text, isEnded }) => `${String(number).padStart(6)}\t${text}${isEnded ? "\n" : ""}`)
		.join("");
	return toolSuccess({ output, message: message.join(" ") });
}

/** Why the file cannot be shown as text, or null. */
function refusal({ location: { spelled }, kind }: FoundFile): ToolReturn | null {
	switch (kind) {
		case "text":
			return null;
		case "image":
			return toolError(`\`${spelled}\` is an image, not text.`, "Unsupported file type");
		case "video":
			return toolError(`\`${spelled}\` is a video, not text.`, "Unsupported file type");
		case "unknown":
			return toolError(
				`\`${spelled}\` is not a text file. Shell commands may be able to inspect it.`,
				"File not readable",
			);
	}
}

/** Bytes per read. */
const pieceLength = 64 * 1024;

async function* piecesOf(text: string): AsyncIterable<Buffer> {
	const bytes = Buffer.from(text);
	for (let start = 0; start < bytes.length; start += pieceLength) yield bytes.subarray(start, start + pieceLength);
}

/** Reads the lines; guesses the encoding only if the file is not UTF-8. */
async function readLines(
	path: string,
	read: (pieces: AsyncIterable<Buffer>, decoder: Decoder) => Promise<Reading>,
	{ files }: ToolEnvironment,
): Promise<{ readonly reading: Reading; readonly note: string }> {
	let passed = 0;
	/** Offset of the first non-ASCII byte. */
	let first: number | null = null;
	const watched = async function* () {
		for await (const piece of files.readPieces(path)) {
			const found = first === null ? piece.findIndex((byte) => byte >= 0x80) : -1;
			if (found !== -1) first = passed + found;
			passed += piece.length;
			yield piece;
		}
	};
	try {
		return { reading: await read(watched(), new TextDecoder("utf-8", { fatal: true })), note: "" };
	} catch (thrown) {
		if (!(thrown instanceof TypeError)) throw thrown;
	}
	const start = sampleStart(first ?? 0);
	const sample = (await files.readRange(path, start, sampleLength)) ?? Buffer.alloc(0);
	const encoding = (start === 0 ? markedEncoding(sample) : null) ?? guessOfSample(sample);
	const decoder = encoding === null ? null : createDecoder(encoding, false);
	return {
		reading: await read(files.readPieces(path), decoder ?? new TextDecoder("utf-8")),
		note:
			encoding === null || decoder === null
				? unknownEncodingNote
				: encodingNote(encoding, start === 0 && markedEncoding(sample) !== null),
	};
}

export function createReadFile(environment: ToolEnvironment): Tool {
	return defineTool({
		name: "ReadFile",
		description,
		schema,
		failureBrief: "Failed to read file",
		async prepare({ path, line_offset: offset, n_lines: wanted }, { signal: preparing = never }) {
			const found = await findReadableFile(path, environment, (location) =>
				readUnsavedText(location, environment, preparing),
			);
			if (!found.ok) return settled(found.refusal);
			const refused = refusal(found.file);
			if (refused !== null) return settled(refused);
			const { location } = found.file;
			const need = {
				action: "read file",
				subject: fileSubject(location, "read"),
				description: `Read file ${shownPath(location)}`,
			};
			return freeUnlessRuled(need, async (signal) => {
				const count = Math.min(wanted, maximumLines);
				const read = async (pieces: AsyncIterable<Buffer>, decoder: Decoder): Promise<Reading> => {
					const collected = offset > 0 ? collectForward(offset, count) : collectTail(-offset, count);
					let totalLines = 0;
					const take = (line: TextLine): void => {
						totalLines += 1;
						collected.take(toShown(line, totalLines));
					};
					await forEachLine(pieces, maximumLineLength, signal, take, decoder);
					return collected.finish(totalLines);
				};
				const text = await readEditorText(location, environment, signal);
				const { reading, note } =
					text === null
						? await readLines(location.resolved, read, environment)
						: { reading: await read(piecesOf(text), new TextDecoder("utf-8")), note: "" };
				return signal.aborted ? cancelledResult() : toResult(reading, note);
			});
		},
	});
}
