// Normalizes work directories and derives the directory name of their sessions, so that other readers find them.
import { createHash } from "node:crypto";
import path from "node:path";
import { KernelError } from "../../../base/errors.ts";

/** Absolute, without `.`, `..` and extra separators; keeps links, because clients hash the path they were given. */
export function toWorkDir(spelled: string): string {
	if (!isWorkDir(spelled)) {
		throw new KernelError("invalid-input", `The work directory is not an absolute path: ${JSON.stringify(spelled)}`);
	}
	return path.resolve(spelled);
}

/** Whether it is a valid work directory or workspace root: an absolute path. */
export function isWorkDir(spelled: string): boolean {
	return path.isAbsolute(spelled) && !spelled.includes("\0");
}

/** The directory name for a work directory under `sessions/`: the MD5 of its UTF-8 bytes, in lower-case hexadecimal. */
export function toDirectoryName(workDir: string): string {
	return createHash("md5").update(workDir, "utf8").digest("hex");
}

const longestId = 200;

/** Throws `invalid-input` for an id that is not a plain directory name. */
export function checkSessionId(id: string): void {
	const reason = unfitReason(id);
	if (reason !== null) throw new KernelError("invalid-input", `The session id ${reason}: ${JSON.stringify(id)}`);
}

export function isSessionId(id: string): boolean {
	return unfitReason(id) === null;
}

function unfitReason(id: string): string | null {
	if (id === "") return "is empty";
	if (id === "." || id === "..") return "names a directory";
	if (/[/\\\0]/.test(id)) return "contains a separator";
	return Buffer.byteLength(id) > longestId ? `is longer than ${longestId} bytes` : null;
}
