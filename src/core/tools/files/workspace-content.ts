// The text files of the workspace as a client's editor has them: what it has not saved yet is read, and it writes changes
// itself. Everything else is read and written on disk.
import { isUtf8 } from "node:buffer";
import { systemErrorCode } from "../../../base/errors.ts";
import type { Editor } from "../../../ports/files/editor-files.ts";
import { secretKind } from "../secret-refusal.ts";
import type { ToolEnvironment } from "../tool.ts";
import type { Location } from "../workspace-paths.ts";
import { decodeTextFile, encodeAsUtf8, type TextFile } from "./text-file.ts";

/** Bytes of the largest file that can be changed; it has to fit in memory. */
export const changeLimit = 64 * 1024 * 1024;

export async function unlessTooLarge<T>(work: Promise<T>): Promise<T | "too-large"> {
	try {
		return await work;
	} catch (thrown) {
		if (systemErrorCode(thrown) === "EFBIG") return "too-large";
		throw thrown;
	}
}

/** What a change is made to. */
export interface WorkspaceContent {
	/** As the file is stored, or would be when the editor saves it; null when there is none. */
	readonly bytes: Buffer | null;
	/** Whether the editor has written the file, which is to be left to the disk otherwise. */
	writeInEditor(after: Buffer, signal: AbortSignal): Promise<boolean>;
}

/** The session's editor, for a file that it is asked about; else null. */
async function editorOf(location: Location, environment: ToolEnvironment): Promise<Editor | null> {
	const { editor, secrets } = environment;
	if (editor === null || !location.inside) return null;
	if ((await secretKind(location, environment)) !== null) return null;
	return (await secrets.forMany().kindOf(location.resolved)) === null ? editor : null;
}

/** The editor's text of a file that is only read; null when the disk is to be read. */
export async function readEditorText(
	location: Location,
	environment: ToolEnvironment,
	signal: AbortSignal,
): Promise<string | null> {
	const editor = await editorOf(location, environment);
	// Since the call was allowed, a link to another file may have taken its place: that is checked where files are opened.
	if (editor === null || (await environment.files.resolve(location.resolved)) !== location.resolved) return null;
	const text = await editor.read(location.resolved, signal);
	if (text === null) return null;
	// Editors guess encodings, each in its own way, and changes of such files are made on disk.
	const stored = await unlessTooLarge(environment.files.read(location.resolved, changeLimit));
	return stored === null || stored === "too-large" || isUtf8(stored) ? text : null;
}

/** The editor's text of a file that is not on disk; editors may show an empty one for any path. */
export async function readUnsavedText(
	location: Location,
	environment: ToolEnvironment,
	signal: AbortSignal,
): Promise<string | null> {
	return (await readEditorText(location, environment, signal)) || null;
}

/**
 * The content of a file that is to be changed, whatever it holds: a person is shown the change. Fails with EFBIG for
 * more of it on disk than can be changed.
 */
export async function readForChange(
	location: Location,
	environment: ToolEnvironment,
	signal: AbortSignal,
): Promise<WorkspaceContent> {
	const { resolved } = location;
	const bytes = await environment.allFiles.read(resolved, changeLimit);
	const onDiskAlone = { bytes, writeInEditor: async () => false };
	const editor = await editorOf(location, environment);
	if (editor === null) return onDiskAlone;
	const stored = bytes === null ? null : await decodeTextFile(bytes);
	if (bytes !== null && stored?.encoding !== "utf-8") return onDiskAlone;
	const text = await editor.read(resolved, signal);
	if (text === null || (text === "" && bytes === null)) {
		return { bytes, writeInEditor: (after, until) => editor.write(resolved, after.toString("utf8"), until) };
	}
	const shown = await decodeTextFile(Buffer.from(text));
	if (shown === null) return onDiskAlone;
	const omits = findOmissions(stored, shown);
	return {
		bytes: await encodeAsUtf8(shown.text, {
			hasByteOrderMark: omits.mark || shown.hasByteOrderMark,
			lineEnding: omits.returns ? "crlf" : shown.lineEnding,
		}),
		writeInEditor: async (after, until) => await editor.write(resolved, await toEditorText(after, omits), until),
	};
}

/** What an editor leaves out of the texts that it shows, and adds again when it saves them. */
interface Omissions {
	readonly mark: boolean;
	/** The carriage returns at the ends of lines. */
	readonly returns: boolean;
}

function findOmissions(stored: TextFile | null, shown: TextFile): Omissions {
	return {
		mark: stored?.hasByteOrderMark === true && !shown.hasByteOrderMark,
		returns: stored?.lineEnding === "crlf" && shown.lineEnding === "lf",
	};
}

async function toEditorText(after: Buffer, omits: Omissions): Promise<string> {
	const form = await decodeTextFile(after);
	if (form === null) return after.toString("utf8");
	const whole = await encodeAsUtf8(form.text, {
		hasByteOrderMark: form.hasByteOrderMark && !omits.mark,
		lineEnding: omits.returns ? "lf" : form.lineEnding,
	});
	return whole.toString("utf8");
}
