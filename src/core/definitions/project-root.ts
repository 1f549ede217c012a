// Finds the root of a project and the directories between it and a work dir.
import path from "node:path";
import type { Files } from "../../ports/files/port.ts";

/**
 * From the project root (the nearest directory upwards that has `.git`, else the work dir) down to the work dir, an
 * absolute path. Never empty: the first is the root, the last the work dir. Unreadable directories count as missing.
 */
export async function projectDirectories(files: Files, workDir: string): Promise<[string, ...string[]]> {
	const upwards: [string, ...string[]] = [workDir];
	for (let current = workDir; path.dirname(current) !== current; ) {
		current = path.dirname(current);
		upwards.push(current);
	}
	const isRoot = (directory: string): Promise<boolean> =>
		files.status(path.join(directory, ".git")).then(
			(status) => status !== null,
			() => false,
		);
	// Most are the root of their project: then no other is looked at.
	if (await isRoot(workDir)) return [workDir];
	const marked = await Promise.all(upwards.map(async (directory) => directory !== workDir && isRoot(directory)));
	const root = marked.indexOf(true);
	const [nearest = workDir, ...below] = upwards.slice(0, root === -1 ? 1 : root + 1).reverse();
	return [nearest, ...below];
}
