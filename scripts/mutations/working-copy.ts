// A copy of the tree to break: the files that git knows or would know, and the installed packages by a link.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Breakage } from "./breakage.ts";

export interface WorkingCopy {
	readonly directory: string;
	/** Puts the breakage in, and gives what takes it out again. */
	break(breakage: Breakage): () => void;
	remove(): void;
}

/** Where the breakage is, or why it cannot be made: its text has to be there exactly once. */
export function placeOf({ file, find, name }: Breakage, text: string): number {
	const first = text.indexOf(find);
	if (first === -1) throw new Error(`"${name}" does not fit any more: src/${file} lacks ${JSON.stringify(find)}`);
	if (text.indexOf(find, first + 1) !== -1)
		throw new Error(`"${name}" is ambiguous: src/${file} has it more than once: ${JSON.stringify(find)}`);
	return first;
}

/** It notices every breakage, by looking for its text: that shows nothing of the product. */
const ownTest = "scripts/mutations.test.ts";

export function createWorkingCopy(root: string): WorkingCopy {
	const directory = mkdtempSync(path.join(tmpdir(), "agentwire-mutations-"));
	const listed = spawnSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root });
	if (listed.status !== 0) throw new Error(`git could not list the files: ${listed.stderr}`);
	for (const file of listed.stdout.toString("utf8").split("\0")) {
		if (file === "" || file === ownTest) continue;
		const target = path.join(directory, file);
		mkdirSync(path.dirname(target), { recursive: true });
		cpSync(path.join(root, file), target, { verbatimSymlinks: true });
	}
	symlinkSync(path.join(root, "node_modules"), path.join(directory, "node_modules"));
	return {
		directory,
		break(breakage) {
			const file = path.join(directory, "src", breakage.file);
			const text = readFileSync(file, "utf8");
			const place = placeOf(breakage, text);
			const rest = text.slice(place + breakage.find.length);
			writeFileSync(file, text.slice(0, place) + breakage.replace + rest);
			return () => writeFileSync(file, text);
		},
		remove: () => rmSync(directory, { recursive: true, force: true }),
	};
}
