import * as v from "valibot";
import { toolError } from "../../../api/values/content.ts";
import { never } from "../../../base/abort.ts";
import { sentences } from "../../../base/text/sentence.ts";
import type { Tool, ToolEnvironment } from "../tool.ts";
import { defineTool, settled } from "../tool-definition.ts";
import { shownPath } from "../workspace-paths.ts";
import { findForChange, hasParentDirectory, prepareFileChange } from "./file-change.ts";
import { isTextContent } from "./file-kinds.ts";
import { decodeTextFile, encodeTextFile, encodingNote, toLineFeeds, undecodableReason } from "./text-file.ts";

const failureBrief = "Failed to write file";

const description = `Create a file, replace all of its content, or add to its end.

- Use \`overwrite\` (the default) to create a file or to replace everything in it, \`append\` to add after what is there.
- The directory that holds the file must exist.
- A path outside of the working directory must be absolute.
- Encoding, byte order mark and line endings of an existing file are preserved.
- Long content can be written in several calls: \`overwrite\` first, then \`append\`.
- To change parts of a file, StrReplaceFile is the better choice.`;

const schema = v.object({
	path: v.pipe(v.string(), v.description("The file to write; relative to the working directory or absolute.")),
	content: v.pipe(v.string(), v.description("What to write, exactly.")),
	mode: v.optional(
		v.pipe(v.picklist(["overwrite", "append"]), v.description("Whether to replace the content or to add to its end.")),
		"overwrite",
	),
});

/** Uses the file's line endings, unless the text requires others. */
function adapted(content: string, usesReturns: boolean): string {
	return usesReturns ? toLineFeeds(content) : content;
}

export function createWriteFile(environment: ToolEnvironment): Tool {
	return defineTool({
		name: "WriteFile",
		description,
		schema,
		failureBrief,
		async prepare({ path, content, mode }, { signal = never }) {
			const found = await findForChange(path, environment, failureBrief, signal);
			if (!found.ok) return found.refusal;
			const { location, before, isPlanFile } = found.file;
			if (before === null && !isPlanFile && !(await hasParentDirectory(location, environment))) {
				return settled(
					toolError(`The directory that is to hold \`${path}\` does not exist.`, "Parent directory not found"),
				);
			}
			const old = before === null ? null : await decodeTextFile(before);
			// A binary file can only be replaced entirely.
			if (before !== null && old === null && (mode === "append" || isTextContent(before))) {
				return settled(toolError(undecodableReason(path, before), failureBrief));
			}
			const oldText = old?.text ?? before?.toString("utf8") ?? "";
			const added = adapted(content, old?.lineEnding === "crlf");
			const newText = mode === "append" ? oldText + added : added;
			const encoded = await encodeTextFile(newText, old);
			if (!encoded.ok) return settled(toolError(encoded.reason, failureBrief));
			const after = encoded.bytes;
			const done = mode === "append" ? "appended to" : "overwritten";
			return prepareFileChange(
				{
					location,
					before,
					after,
					shown: { before: oldText, after: newText },
					description: `Write file ${shownPath(location)}`,
					failureBrief,
					message: sentences(
						`File successfully ${done}. Current size: ${after.length} bytes.`,
						old === null ? "" : encodingNote(old.encoding, old.hasByteOrderMark),
					),
					operation: "write",
					isFree: isPlanFile,
				},
				environment,
			);
		},
	});
}
