import * as v from "valibot";
import { toolError } from "../../../api/values/content.ts";
import { never } from "../../../base/abort.ts";
import { sentences } from "../../../base/text/sentence.ts";
import { boolean } from "../argument-schemas.ts";
import { secretKind } from "../secret-refusal.ts";
import type { Tool, ToolEnvironment } from "../tool.ts";
import { defineTool, settled } from "../tool-definition.ts";
import { shownPath } from "../workspace-paths.ts";
import { findForChange, prepareFileChange, reportWhenApproved } from "./file-change.ts";
import { applyEdits } from "./text-edits.ts";
import { decodeTextFile, encodeTextFile, encodingNote, undecodableReason } from "./text-file.ts";

const failureBrief = "Failed to edit file";

const description = `Replace pieces of a text file.

- \`old\` must be found in the file exactly, with its white space and indentation, and only once; add neighboring lines until it is unique, or set \`replace_all\`.
- Several edits of one file belong into one call. They are applied in order, each to the result of the one before. When one does not match, none is applied.
- Read the file before editing it. Line numbers that ReadFile shows are not part of the text.
- A path outside of the working directory must be absolute.`;

const editSchema = v.object({
	old: v.pipe(v.string(), v.description("The text to replace; may have several lines.")),
	new: v.pipe(v.string(), v.description("The text to put in its place; may have several lines.")),
	replace_all: v.optional(
		v.pipe(boolean(), v.description("Whether to replace every occurrence instead of the only one.")),
		false,
	),
});

const schema = v.object({
	path: v.pipe(v.string(), v.description("The file to edit; relative to the working directory or absolute.")),
	edit: v.pipe(
		v.union([editSchema, v.array(editSchema)]),
		v.description("The edit, or a list of edits to apply in order."),
	),
});

export function createStringReplaceFile(environment: ToolEnvironment): Tool {
	return defineTool({
		name: "StrReplaceFile",
		description,
		schema,
		failureBrief,
		async prepare({ path, edit }, { signal = never }) {
			const found = await findForChange(path, environment, failureBrief, signal);
			if (!found.ok) return found.refusal;
			const { location, before, isPlanFile } = found.file;
			if (before === null) {
				return settled(
					isPlanFile
						? toolError("The plan file does not exist yet. Write it with WriteFile first.", "Plan file not created")
						: toolError(`\`${path}\` does not exist.`, "File not found"),
				);
			}
			const old = await decodeTextFile(before);
			if (old === null) return settled(toolError(undecodableReason(path, before), failureBrief));
			const edits = Array.isArray(edit) ? edit : [edit];
			const edited = await applyEdits(old.text, edits, old.lineEnding);
			if (!edited.ok) {
				const result = toolError(edited.message, "No replacements made");
				// A call that a rule denies reports the rule instead.
				const isSecret =
					((await secretKind(location, environment)) ??
						(await environment.secrets.forMany().kindOf(location.resolved))) !== null;
				return isSecret
					? reportWhenApproved(location, "edit", `Edit file ${shownPath(location)}`, result, environment)
					: settled(result);
			}
			const after = await encodeTextFile(edited.text, old);
			if (!after.ok) return settled(toolError(after.reason, failureBrief));
			return prepareFileChange(
				{
					location,
					before,
					after: after.bytes,
					shown: { before: old.text, after: edited.text },
					description: `Edit file ${shownPath(location)}`,
					failureBrief,
					message: sentences(
						`File successfully edited. Applied ${edits.length} edit(s) with ${edited.replacements} total replacement(s).`,
						encodingNote(old.encoding, old.hasByteOrderMark),
					),
					operation: "edit",
					isFree: isPlanFile,
				},
				environment,
			);
		},
	});
}
