// File changes of a session in its directories, and previews of undoing them. Paths are relative to the work directory, or
// absolute if they are elsewhere.
import * as v from "valibot";
import { diffBlockSchema } from "./content.ts";

const text = v.string();
const count = v.pipe(v.number(), v.integer(), v.minValue(0));
/** Changed lines; null if the file is not text or too long to compare. */
const lines = v.nullable(v.object({ added: count, removed: count }));

export const leftPathSchema = v.object({ path: text, reason: text });

/** The changes of one turn or restore. */
export const recordedChangesSchema = v.object({
	id: text,
	kind: v.picklist(["turn", "restore"]),
	/** Milliseconds since the epoch. */
	at: v.number(),
	complete: v.boolean(),
	reasons: v.array(text),
	files: v.array(v.object({ path: text, change: v.picklist(["added", "modified", "deleted"]), lines })),
});
export type RecordedChanges = v.InferOutput<typeof recordedChangesSchema>;

export const filePlanSchema = v.object({
	/** The planned actions; a conflict is a file that has changed since the session left it. */
	files: v.array(
		v.object({ path: text, action: v.picklist(["create", "change", "delete"]), lines, conflict: v.boolean() }),
	),
	/** Paths that cannot be restored, and why. */
	uncovered: v.array(leftPathSchema),
	/** Paths that somebody else has changed since; they stay. */
	outside: v.array(text),
	/** Why more may have changed than is known. */
	reasons: v.array(text),
});
export type FilePlan = v.InferOutput<typeof filePlanSchema>;

/** On conflicts: restore nothing, leave them, or restore them too. */
export const conflictChoices = ["stop", "skip", "take"] as const;
export type ConflictChoice = (typeof conflictChoices)[number];

export const restoredFilesSchema = v.object({
	/** Id of the restore, to undo it; null if nothing was changed. */
	id: v.nullable(text),
	restored: v.array(text),
	left: v.array(leftPathSchema),
});
export type RestoredFiles = v.InferOutput<typeof restoredFilesSchema>;

/** A fork, with the files that its directory lacks and why more may differ. */
export const forkedSchema = v.object({ id: text, left: v.array(leftPathSchema), reasons: v.array(text) });
export type ForkedSession = v.InferOutput<typeof forkedSchema>;

export const fileDiffSchema = v.object({
	/** Null if the file is not text. */
	blocks: v.nullable(v.array(diffBlockSchema)),
});
export type FileDiff = v.InferOutput<typeof fileDiffSchema>;

export const rewoundSchema = v.object({
	/** Null where only the conversation is concerned. */
	plan: v.nullable(filePlanSchema),
	/** Null for a dry run, and where only the conversation is concerned. */
	files: v.nullable(restoredFilesSchema),
	/** How many messages the conversation has then; null where only files are concerned, or nothing was done. */
	messages: v.nullable(count),
});
export type Rewound = v.InferOutput<typeof rewoundSchema>;
