import path from "node:path";
import type { Files } from "../../ports/files/port.ts";

/** From the nearest ancestor with `.git` down to the work directory (absolute). Never empty. */
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
	// Fast path: most work directories are project roots.
	if (await isRoot(workDir)) return [workDir];
	const marked = await Promise.all(upwards.map(async (directory) => directory !== workDir && isRoot(directory)));
	const root = marked.indexOf(true);
	const [nearest = workDir, ...below] = upwards.slice(0, root === -1 ? 1 : root + 1).reverse();
	return [nearest, ...below];
}
