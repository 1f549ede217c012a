// Reads include unsaved editor changes, and the editor applies writes; other files use the disk.
import { isUtf8 } from "node:buffer";
import { systemErrorCode } from "../../../base/errors.ts";
import type { Editor } from "../../../ports/files/editor-files.ts";
import { secretKind } from "../secret-refusal.ts";
import type { ToolEnvironment } from "../tool.ts";
import type { Location } from "../workspace-paths.ts";
import { decodeTextFile, encodeAsUtf8, type TextFile } from "./text-file.ts";

/** Maximum size in bytes of a file to change, which must fit in memory. */
export const changeLimit = 64 * 1024 * 1024;

export async function unlessTooLarge<T>(work: Promise<T>): Promise<T | "too-large"> {
	try {
		return await work;
	} catch (thrown) {
		if (systemErrorCode(thrown) === "EFBIG") return "too-large";
		throw thrown;
	}
}

export interface WorkspaceContent {
	readonly bytes: Buffer | null;
	/** Returns false if the change must be written to disk instead. */
	writeInEditor(after: Buffer, signal: AbortSignal): Promise<boolean>;
}

/** The session's editor if it handles the file; else null. */
async function editorOf(location: Location, environment: ToolEnvironment): Promise<Editor | null> {
	const { editor, secrets } = environment;
	if (editor === null || !location.inside) return null;
	if ((await secretKind(location, environment)) !== null) return null;
	return (await secrets.forMany().kindOf(location.resolved)) === null ? editor : null;
}

/** The editor's text for a read; null to read from disk. */
export async function readEditorText(
	location: Location,
	environment: ToolEnvironment,
	signal: AbortSignal,
): Promise<string | null> {
	const editor = await editorOf(location, environment);
	// A link may have replaced the file since the call was allowed; the disk path is checked when it is opened.
	if (editor === null || (await environment.files.resolve(location.resolved)) !== location.resolved) return null;
	const text = await editor.read(location.resolved, signal);
	if (text === null) return null;
	// Editors guess encodings differently, so changes to non-UTF-8 files are made on disk.
	const stored = await unlessTooLarge(environment.files.read(location.resolved, changeLimit));
	return stored === null || stored === "too-large" || isUtf8(stored) ? text : null;
}

/** The editor's text of a file not on disk. Editors may return an empty text for any path. */
export async function readUnsavedText(
	location: Location,
	environment: ToolEnvironment,
	signal: AbortSignal,
): Promise<string | null> {
	return (await readEditorText(location, environment, signal)) || null;
}

/** Includes secrets, because the user sees the change. Fails EFBIG if the file is too large. */
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

/** The characters an editor removes from displayed texts and restores when it saves. */
interface Omissions {
	readonly mark: boolean;
	/** Carriage returns at line ends. */
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
