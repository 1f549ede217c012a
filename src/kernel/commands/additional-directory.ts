import { errorText } from "../../base/errors.ts";
import { absolutePath, contains } from "../../core/tools/workspace-paths.ts";
import type { Files } from "../../ports/files/port.ts";

export interface WorkspacePlace {
	readonly files: Files;
	readonly workDir: string;
	readonly home: string;
	readonly additionalDirs: readonly string[];
}

export type DirectoryCheck =
	/** Absolute and normalized, symbolic links not resolved. */
	{ readonly ok: true; readonly path: string } | { readonly ok: false; readonly reason: string };

export async function checkAdditionalDirectory(typed: string, place: WorkspacePlace): Promise<DirectoryCheck> {
	const refuse = (reason: string): DirectoryCheck => ({ ok: false, reason });
	const spelled = typed.trim();
	if (spelled === "") return refuse("Name the directory to add.");
	if (spelled.includes("\0")) return refuse("A path must not contain a NUL character.");
	const path = absolutePath(spelled, place);
	try {
		const status = await place.files.status(path);
		if (status === null) return refuse(`There is no directory ${path}.`);
		if (status.kind !== "directory") return refuse(`${path} is not a directory.`);
		await place.files.list(path);
		const root = await coveringRoot(path, place);
		if (root === null) return { ok: true, path };
		if (root === place.workDir) return refuse(`${path} belongs to the workspace already: it is in the work directory.`);
		return refuse(`${path} belongs to the workspace already: it is in ${root}, which was added before.`);
	} catch (thrown) {
		return refuse(`${path} cannot be read: ${errorText(thrown)}`);
	}
}

async function coveringRoot(path: string, { files, workDir, additionalDirs }: WorkspacePlace): Promise<string | null> {
	const resolved = await files.resolve(path);
	for (const root of [workDir, ...additionalDirs]) {
		if (contains(await files.resolve(root), resolved)) return root;
	}
	return null;
}

export function additionalDirectoryMessage(path: string, listing: string): string {
	return `<system>The directory ${path} was added to the workspace. Its files can be read and changed like those of the working directory, by their absolute paths. This is in it:\n\n${listing}\n</system>`;
}
