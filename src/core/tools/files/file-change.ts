// A change is applied exactly as shown for approval; a file that changed meanwhile is not touched.
import path from "node:path";
import { type ToolReturn, toolError, toolSuccess } from "../../../api/values/content.ts";
import type { FileOperation } from "../../../api/values/subject.ts";
import { createKeyedQueue } from "../../../base/keyed-queue.ts";
import { secretKind } from "../secret-refusal.ts";
import type { Preparation, ToolEnvironment } from "../tool.ts";
import { cancelledResult, settled } from "../tool-definition.ts";
import { fileSubject, type Location, locateFile } from "../workspace-paths.ts";
import { createDiffBlocks } from "./diff-blocks.ts";
import { changeLimit, readForChange, unlessTooLarge, type WorkspaceContent } from "./workspace-content.ts";

export type ChangeOperation = Exclude<FileOperation, "read">;

export interface FileChange {
	readonly location: Location;
	readonly before: Buffer | null;
	readonly after: Buffer;
	readonly shown: { readonly before: string; readonly after: string };
	readonly description: string;
	readonly failureBrief: string;
	readonly message: string;
	readonly operation: ChangeOperation;
	/** Whether it needs no approval without a rule, like the plan file in plan mode. */
	readonly isFree: boolean;
}

export interface ChangeableFile {
	readonly location: Location;
	readonly before: Buffer | null;
	/** Whether it is the plan file, which is written without approval. */
	readonly isPlanFile: boolean;
}

export type ChangeableFileResult =
	| { readonly ok: true; readonly file: ChangeableFile }
	| { readonly ok: false; readonly refusal: Preparation };

export async function findForChange(
	spelled: string,
	session: ToolEnvironment,
	failureBrief: string,
	signal: AbortSignal,
): Promise<ChangeableFileResult> {
	const found = await locateFile(spelled, session);
	if (!found.ok) return { ok: false, refusal: settled(found.refusal) };
	const { location } = found;
	const verdict = await planVerdict(location, session);
	if (verdict.kind === "refused") return { ok: false, refusal: verdict.refusal };
	const isPlanFile = verdict.kind === "plan-file";
	const content = await readChangeable(location, environmentOf(isPlanFile, session), failureBrief, signal);
	if (!content.ok) return content;
	return { ok: true, file: { location, before: content.bytes, isPlanFile } };
}

/** The plan file is always read from disk, never from an editor. */
function environmentOf(isPlanFile: boolean, session: ToolEnvironment): ToolEnvironment {
	return isPlanFile ? { ...session, editor: null } : session;
}

type FileContent =
	| { readonly ok: true; readonly bytes: Buffer | null }
	| { readonly ok: false; readonly refusal: Preparation };

async function readChangeable(
	location: Location,
	environment: ToolEnvironment,
	failureBrief: string,
	signal: AbortSignal,
): Promise<FileContent> {
	const refuse = (message: string, brief: string): FileContent => ({
		ok: false,
		refusal: settled(toolError(message, brief)),
	});
	const tooLarge = (size: string) =>
		refuse(`\`${location.spelled}\` is too large to be changed: ${size} bytes.`, failureBrief);
	const status = await environment.files.status(location.resolved);
	if (status !== null) {
		if (status.kind !== "file") {
			const what = status.kind === "directory" ? "a directory" : "not a regular file";
			return refuse(`\`${location.spelled}\` is ${what}.`, "Invalid path");
		}
		// Replacing a file needs no write permission on the file itself, so check it here.
		if ((status.mode & 0o222) === 0) return refuse(`\`${location.spelled}\` is read-only.`, failureBrief);
		if (status.size > changeLimit) return tooLarge(String(status.size));
	}
	const content = await unlessTooLarge(readForChange(location, environment, signal));
	// The file has grown since.
	if (content === "too-large") return tooLarge(`more than ${changeLimit}`);
	const { bytes } = content;
	return bytes !== null && bytes.length > changeLimit ? tooLarge(String(bytes.length)) : { ok: true, bytes };
}

type PlanVerdict =
	/** Plan mode is off: the usual rules apply. */
	| { readonly kind: "free" }
	| { readonly kind: "plan-file" }
	| { readonly kind: "refused"; readonly refusal: Preparation };

async function planVerdict(location: Location, { plan, files }: ToolEnvironment): Promise<PlanVerdict> {
	const file = plan.file();
	if (file === null) return { kind: "free" };
	// If the plan file links elsewhere, it is no longer the plan file.
	const own = path.join(await files.resolve(path.dirname(file)), path.basename(file));
	if (location.resolved === own) return { kind: "plan-file" };
	const message = `Plan mode is on: only the plan file ${file} may be changed. Hand the plan in with ExitPlanMode before changing anything else.`;
	return { kind: "refused", refusal: settled(toolError(message, "Plan mode restriction")) };
}

export async function hasParentDirectory(location: Location, environment: ToolEnvironment): Promise<boolean> {
	return (await environment.files.status(path.dirname(location.resolved)))?.kind === "directory";
}

/** One writer per file across all sessions, so that reading and writing do not interleave. */
const writers = createKeyedQueue();

function isSame(one: Buffer | null, other: Buffer | null): boolean {
	return one === null || other === null ? one === other : one.equals(other);
}

/** A session approval of edits excludes secret files, which the user did not consider. */
async function actionOf(location: Location, environment: ToolEnvironment): Promise<string> {
	if ((await secretKind(location, environment)) !== null) return "edit file that may hold secrets";
	return location.inside ? "edit file" : "edit file outside of working directory";
}

/** Reports why an edit failed in a file that must not be read. The reason reveals content, so it needs the user's approval. */
export async function reportWhenApproved(
	location: Location,
	operation: ChangeOperation,
	description: string,
	result: ToolReturn,
	environment: ToolEnvironment,
): Promise<Preparation> {
	return {
		kind: "ready",
		approval: {
			byDefault: "ask",
			action: await actionOf(location, environment),
			subjects: [fileSubject(location, operation)],
			description,
			display: [],
		},
		hasEffect: true,
		target: location.resolved,
		execute: async () => result,
	};
}

export async function prepareFileChange(change: FileChange, session: ToolEnvironment): Promise<Preparation> {
	const { location, before, after } = change;
	const environment = environmentOf(change.isFree, session);
	const { allFiles: files } = environment;
	const display = await createDiffBlocks(
		location.isLinked ? location.resolved : location.path,
		change.shown.before,
		change.shown.after,
	);

	/** Reads the file again; null if it differs from the state that was shown. */
	const readAgain = async (signal: AbortSignal): Promise<WorkspaceContent | null> => {
		if ((await files.resolve(location.path)) !== location.resolved) return null;
		const content = await unlessTooLarge(readForChange(location, environment, signal));
		return content !== "too-large" && isSame(content.bytes, before) ? content : null;
	};

	return {
		kind: "ready",
		approval: {
			byDefault: change.isFree ? "allow" : "ask",
			action: await actionOf(location, environment),
			subjects: [fileSubject(location, change.operation)],
			description: change.description,
			display,
		},
		hasEffect: true,
		target: location.resolved,
		execute: (signal) =>
			writers.run(location.resolved, async () => {
				if (signal.aborted) return cancelledResult();
				const content = await readAgain(signal);
				// The editor request takes long enough to be canceled.
				if (signal.aborted) return cancelledResult();
				if (content === null) {
					return toolError(
						`\`${location.spelled}\` changed since this call was prepared, so nothing was written. Read the file again and retry.`,
						change.failureBrief,
					);
				}
				if (change.isFree) await files.makeDirectory(path.dirname(location.resolved));
				if (!(await content.writeInEditor(after, signal))) {
					if (signal.aborted) return cancelledResult();
					await files.replace(location.resolved, after, { withoutLinks: true, inPlaceIfNeeded: true, sync: true });
				}
				return toolSuccess({ message: change.message, display });
			}),
	};
}
