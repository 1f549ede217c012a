// Whether files are what they were when an answer was made from them: by their status, which costs less than to read them.
import { type BigIntStats, stat } from "node:fs";
import { systemErrorCode } from "../../base/errors.ts";

/** How a file was used: `read` for its content or list of names, `seen` for no more than what it is. */
export type FileUse = "seen" | "read";

/** What is compared of a file, as text. */
export type FileMark = string;

/** A path, how it was used, and its mark. */
export type MarkedFile = readonly [path: string, use: FileUse, mark: FileMark];

/** Milliseconds within which two changes of a file may have the same time. */
const clockGrain = 2000;

/** Calls back with the status of what the path leads to, or with the code of an error. */
function look(file: string, done: (found: BigIntStats | string) => void): void {
	stat(file, { bigint: true }, (error, status) =>
		done(error === null ? status : (systemErrorCode(error) ?? "UNKNOWN")),
	);
}

function toMark(found: BigIntStats | string, use: FileUse): FileMark {
	// A missing directory on the way is no other answer than a missing file.
	if (typeof found === "string") return found === "ENOTDIR" ? "ENOENT" : found;
	const { dev, ino, mode, size, mtimeNs, ctimeNs } = found;
	// Of a directory that is only looked at, the names in it do not matter.
	if (use === "seen" && found.isDirectory()) return `${dev} ${ino} ${mode}`;
	return `${dev} ${ino} ${mode} ${size} ${mtimeNs} ${ctimeNs}`;
}

/** Whether all files still have their marks. Never rejects. */
export function areUnchanged(files: readonly MarkedFile[]): Promise<boolean> {
	return new Promise((resolve) => {
		let open = files.length;
		if (open === 0) resolve(true);
		for (const [file, use, mark] of files) {
			look(file, (found) => {
				open -= 1;
				if (toMark(found, use) !== mark) resolve(false);
				else if (open === 0) resolve(true);
			});
		}
	});
}

/**
 * Marks files that were used from `since` on (milliseconds since the epoch). Null when one of them changed so late that a mark
 * could not distinguish what was read from what came after it.
 */
export async function markFiles(uses: ReadonlyMap<string, FileUse>, since: number): Promise<MarkedFile[] | null> {
	const marked = await Promise.all(
		[...uses].map(
			([file, use]) =>
				new Promise<MarkedFile | null>((resolve) => {
					look(file, (found) => {
						const isSettled =
							typeof found === "string" ||
							(use === "seen" && found.isDirectory()) ||
							Math.max(Number(found.mtimeMs), Number(found.ctimeMs)) < since - clockGrain;
						resolve(isSettled ? [file, use, toMark(found, use)] : null);
					});
				}),
		),
	);
	const settled = marked.filter((each) => each !== null);
	return settled.length === marked.length ? settled : null;
}
