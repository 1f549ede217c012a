// Decides whether a path is inside the workspace; tools decide on access.
import path from "node:path";
import { type ToolReturn, toolError } from "../../api/values/content.ts";
import type { FileOperation, Subject } from "../../api/values/subject.ts";
import { cut } from "../../base/text/sentence.ts";
import type { Files } from "../../ports/files/port.ts";
import type { ToolEnvironment } from "./tool.ts";

/** Maximum characters; systems accept no longer paths, and resolving a very long one is slow. */
const pathLimit = 4096;

export interface Location {
	/** As the model wrote it. */
	readonly spelled: string;
	readonly path: string;
	/** With every link resolved; for reading and writing. */
	readonly resolved: string;
	/** Whether `resolved` lies in the work directory or an additional directory. */
	readonly inside: boolean;
	/** Whether links change the path, other than links in the workspace's own path. */
	readonly isLinked: boolean;
}

export type LocationResult =
	| { readonly ok: true; readonly location: Location }
	| { readonly ok: false; readonly refusal: ToolReturn };

function withHome(spelled: string, home: string): string {
	return spelled === "~" || spelled.startsWith("~/") ? path.join(home, spelled.slice(1)) : spelled;
}

export function contains(root: string, target: string): boolean {
	return target === root || target.startsWith(root.endsWith(path.sep) ? root : root + path.sep);
}

export function isAbsolutePath(spelled: string): boolean {
	return path.isAbsolute(withHome(spelled, "/"));
}

export function refusePath(spelled: string): ToolReturn | null {
	if (spelled.length > pathLimit)
		return toolError(`The path is longer than ${pathLimit} characters: ${cut(spelled, 100)}`, "Invalid path");
	return spelled.includes("\0") ? toolError("A path must not contain a NUL character.", "Invalid path") : null;
}

export function absolutePath(spelled: string, environment: Pick<ToolEnvironment, "workDir" | "home">): string {
	return path.resolve(environment.workDir, withHome(spelled, environment.home));
}

export async function isInsideWorkspace(resolved: string, environment: ToolEnvironment): Promise<boolean> {
	return await isInsideAny(resolved, [environment.workDir, ...environment.additionalDirs()], environment.files);
}

/** Whether a resolved path is searchable: in the workspace or a skill directory. */
export async function isSearchable(resolved: string, environment: ToolEnvironment): Promise<boolean> {
	if (await isInsideWorkspace(resolved, environment)) return true;
	return await isInsideAny(resolved, environment.skillDirs, environment.files);
}

async function isInsideAny(resolved: string, roots: readonly string[], files: Files): Promise<boolean> {
	for (const root of roots) {
		if (contains(await files.resolve(root), resolved)) return true;
	}
	return false;
}

/** Resolves only the links in the workspace root at the start of the path. */
async function withoutRootLinks(absolute: string, environment: ToolEnvironment): Promise<string> {
	for (const root of [environment.workDir, ...environment.additionalDirs()]) {
		if (!contains(root, absolute)) continue;
		return path.join(await environment.files.resolve(root), path.relative(root, absolute));
	}
	return absolute;
}

/** The path for an approval, with the link target if any. */
export function shownPath({ path: named, resolved, isLinked }: Location): string {
	return isLinked ? `\`${named}\`, which is a link to \`${resolved}\`` : `\`${named}\``;
}

export function fileSubject({ path: named, resolved, isLinked }: Location, operation: FileOperation): Subject {
	return { kind: "file", operation, path: resolved, ...(isLinked ? { named } : {}) };
}

/** A search target as a permission subject. `absolute` is as named, `resolved` without links. */
export async function searchSubject(
	absolute: string,
	resolved: string,
	environment: ToolEnvironment,
): Promise<Subject> {
	const isLinked = resolved !== (await withoutRootLinks(absolute, environment));
	return { kind: "file", operation: "read", path: resolved, ...(isLinked ? { named: absolute } : {}) };
}

/** Resolves a file argument. A path outside the workspace must be absolute. */
export async function locateFile(spelled: string, environment: ToolEnvironment): Promise<LocationResult> {
	const refuse = (message: string, brief: string): LocationResult => ({
		ok: false,
		refusal: toolError(message, brief),
	});
	if (spelled.trim() === "") return refuse("The file path is empty.", "Empty file path");
	const refusal = refusePath(spelled);
	if (refusal !== null) return { ok: false, refusal };
	const absolute = absolutePath(spelled, environment);
	const resolved = await environment.files.resolve(absolute);
	const inside = await isInsideWorkspace(resolved, environment);
	if (!inside && !isAbsolutePath(spelled)) {
		return refuse(
			`\`${spelled}\` leads out of the working directory. Give an absolute path to reach files outside of it.`,
			"Invalid path",
		);
	}
	const isLinked = resolved !== (await withoutRootLinks(absolute, environment));
	return { ok: true, location: { spelled, path: absolute, resolved, inside, isLinked } };
}
